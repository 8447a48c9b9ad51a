// SPDX-License-Identifier: Apache-2.0
// Ends in one of the ways in which a program can, with pins at a moment when little is left of it.
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <unistd.h>

namespace {

using Buffer = pinwarden::PinnedBuffer<int>;

Buffer make(std::string_view label) {
    return Buffer(1024, {.backend = pinwarden::native_backend(), .label = label});
}

Buffer& static_handle() {
    static Buffer buffer;
    return buffer;
}

void pin_in_a_thread_local() {
    thread_local Buffer buffer;
    buffer = make("thread_local");
}

// Holds a pin until the process is gone.
void detach_a_holder() {
    static std::atomic<bool> holds{false};
    std::thread([] {
        const Buffer buffer = make("detached");
        holds = true;
        while (true) ::pause();
    }).detach();
    while (!holds) std::this_thread::yield();
}

void exit_from_a_handler(int) { std::exit(0); }

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc == 2 ? argv[1] : "";
    if (mode == "static") {
        static_handle() = make("static");
    } else if (mode == "thread_local") {
        pin_in_a_thread_local();
        std::thread(pin_in_a_thread_local).join();
    } else if (mode == "detached") {
        detach_a_holder();
    } else if (mode == "signal") {
        const Buffer buffer = make("signal");
        std::signal(SIGTERM, exit_from_a_handler);
        std::raise(SIGTERM);
    } else if (mode == "quick_exit") {
        static_handle() = make("quick_exit");
        std::quick_exit(0);
    } else if (mode == "_exit") {
        static_handle() = make("_exit");
        ::_exit(0);
    } else {
        std::fprintf(stderr, "unknown mode '%s'\n", argc > 1 ? argv[1] : "");
        return 2;
    }
    return 0;
}
