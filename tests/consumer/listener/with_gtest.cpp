// SPDX-License-Identifier: Apache-2.0

// A stranger's tests with GoogleTest. One leaves a pin, and is meant to fail for it and for nothing else.
#include <optional>

#include <gtest/gtest.h>

#include <pinwarden/listeners/gtest.hpp>
#include <pinwarden/pinwarden.hpp>

TEST(Pins, Tidy) {
    const pinwarden::PinnedBuffer<int> buffer(8, {.backend = pinwarden::native_backend()});
    EXPECT_EQ(buffer.size(), 8U);
}

TEST(Pins, Untidy) {
    static std::optional<pinwarden::PinnedBuffer<int>> kept;
    kept = pinwarden::PinnedBuffer<int>(8, {.backend = pinwarden::native_backend(), .label = "kept"});
    EXPECT_EQ(kept->size(), 8U);
}

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    const pinwarden::listeners::GoogleTest tests_leave_no_pins;
    const int failed = RUN_ALL_TESTS();
    const auto& results = *::testing::UnitTest::GetInstance();
    return failed == 1 && results.successful_test_count() == 1 && results.failed_test_count() == 1 ? 0 : 1;
}
