// SPDX-License-Identifier: Apache-2.0

// A part of the test program, not of a library: it is compiled there, with that program's Catch2.
#include <pinwarden/listeners/catch2.hpp>

#include <pinwarden/audit/test_leaks.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstddef>

#if defined(CATCH_CONFIG_PREFIX_ALL)
#define PINWARDEN_FAIL_CHECK CATCH_FAIL_CHECK
#define PINWARDEN_WARN CATCH_WARN
#else
#define PINWARDEN_FAIL_CHECK FAIL_CHECK
#define PINWARDEN_WARN WARN
#endif

namespace pinwarden::listeners {
namespace {

struct Settings {
    bool on = false;
    std::chrono::nanoseconds patience{};
};

constinit Settings settings;

class LeakListener final : public Catch::EventListenerBase {
public:
    using EventListenerBase::EventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo&) override {
        depth_ = 0;
        failed_ = 0;
    }

    // A test case is the outermost of its own sections, begun anew each time that it runs.
    void sectionStarting(const Catch::SectionInfo&) override {
        if (depth_++ == 0 && settings.on) check_.begin();
    }

    // Its locals and fixtures are gone by then, and Catch2 still takes assertions, which it no longer does at the end
    // of the case.
    void sectionEnded(const Catch::SectionStats& stats) override {
        if (--depth_ != 0 || !settings.on) return;
        const audit::TestLeaks found = check_.end(settings.patience);
        if (found.allowed.empty()) failed_ += found.leaks.size();
        // The reporters are told after the listeners. These numbers were taken before, and a reporter may leave out a
        // case whose last run had no assertion, as that of JUnit does. Catch2 keeps them in a variable, not a constant.
        const_cast<Catch::SectionStats&>(stats).assertions.failed += failed_;
        try {
            report(found);
        } catch (...) {
            // With --abort a failed assertion throws even here. Catch2 has counted it, and looks itself whether to go
            // on.
        }
    }

private:
    static void report(const audit::TestLeaks& found) {
        if (!found.allowed.empty()) {
            PINWARDEN_WARN(found.allowed);
            return;
        }
        for (const audit::TestLeak& leak : found.leaks) PINWARDEN_FAIL_CHECK(leak.text);
    }

    audit::TestLeakCheck check_{};
    int depth_ = 0;
    std::size_t failed_ = 0;  // pins that the runs of this case have left
};

CATCH_REGISTER_LISTENER(LeakListener)

}  // namespace

Catch2::Catch2(std::chrono::nanoseconds patience) noexcept { settings = {.on = true, .patience = patience}; }

}  // namespace pinwarden::listeners
