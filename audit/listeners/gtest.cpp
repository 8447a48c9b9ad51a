// SPDX-License-Identifier: Apache-2.0

// A part of the test program, not of a library: it is compiled there, with that program's GoogleTest.
#include <pinwarden/listeners/gtest.hpp>

#include <pinwarden/audit/test_leaks.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

namespace pinwarden::listeners {
namespace {

class LeakListener final : public ::testing::EmptyTestEventListener {
public:
    explicit LeakListener(std::chrono::nanoseconds patience) : patience_(patience) {}

    void OnTestStart(const ::testing::TestInfo&) override { check_.begin(); }

    // The fixture is destroyed by then, and GoogleTest still takes failures.
    void OnTestEnd(const ::testing::TestInfo&) override {
        const audit::TestLeaks found = check_.end(patience_);
        if (!found.allowed.empty()) {
            ::testing::Test::RecordProperty("pinwarden_allowed", found.allowed);
            std::printf("[ ALLOWED  ] %s\n", found.allowed.c_str());
            return;
        }
        for (const audit::TestLeak& leak : found.leaks) {
            constexpr auto most = std::numeric_limits<int>::max();
            const int line = leak.line > static_cast<unsigned>(most) ? most : static_cast<int>(leak.line);
            ADD_FAILURE_AT(leak.file.c_str(), line) << leak.text;
        }
    }

private:
    audit::TestLeakCheck check_{};
    std::chrono::nanoseconds patience_;
};

}  // namespace

GoogleTest::GoogleTest(std::chrono::nanoseconds patience) {
    // GoogleTest owns it from here on.
    ::testing::UnitTest::GetInstance()->listeners().Append(new LeakListener(patience));
}

}  // namespace pinwarden::listeners
