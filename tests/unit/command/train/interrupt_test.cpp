// SPDX-License-Identifier: Apache-2.0
#include <command/train/interrupt.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace pinwarden::command;

namespace {

using Handler = void (*)(int);

Handler handler_of(int signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler;
}

}  // namespace

TEST_CASE("A signal leaves a note, and the next one of its kind is not caught any more") {
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    const Handler before = handler_of(signal);
    {
        const InterruptGuard guard;
        CHECK(guard.signal() == 0);
        CHECK(handler_of(signal) != before);
        std::raise(signal);
        CHECK(guard.signal() == signal);
        CHECK(handler_of(signal) == SIG_DFL);
    }
    CHECK(handler_of(signal) == before);
}

TEST_CASE("A guard starts without the note of an earlier one") {
    {
        const InterruptGuard guard;
        std::raise(SIGINT);
    }
    CHECK(InterruptGuard().signal() == 0);
}

TEST_CASE("The end of a terminal stays ignored where it was, as nohup wants it") {
    const Handler before = std::signal(SIGHUP, SIG_IGN);
    {
        const InterruptGuard guard;
        std::raise(SIGHUP);
        CHECK(guard.signal() == 0);
    }
    CHECK(handler_of(SIGHUP) == SIG_IGN);
    std::signal(SIGHUP, before);
}
