// SPDX-License-Identifier: Apache-2.0
// Ends in one of the ways in which a program can, with pins at a moment when little is left of it.
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
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

// The audit asks for a backend's name while it holds a mutex, and this one is interrupted there.
class InterruptedBackend final : public pinwarden::PinBackend {
public:
    std::string_view name() const noexcept override {
        std::raise(SIGTERM);
        return "interrupted";
    }
    bool pins() const noexcept override { return true; }
    pinwarden::HostBlock allocate(std::size_t bytes) override { return memory_->allocate(bytes); }
    pinwarden::UnpinAnswer deallocate(const pinwarden::HostBlock& block) noexcept override {
        return memory_->deallocate(block);
    }
    pinwarden::HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        return memory_->register_memory(address, bytes);
    }
    pinwarden::UnpinAnswer unregister_memory(const pinwarden::HostBlock& block) noexcept override {
        return memory_->unregister_memory(block);
    }

private:
    const pinwarden::PinBackendPtr memory_ = pinwarden::native_backend();
};

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
    } else if (mode == "interrupted") {
        static_handle() = Buffer(1024, {.backend = std::make_shared<InterruptedBackend>(), .label = "interrupted"});
        std::signal(SIGTERM, exit_from_a_handler);
        static_cast<void>(pinwarden::audit::Registry::instance().snapshot());
        return 3;
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
