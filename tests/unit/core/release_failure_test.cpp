// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/release_failure.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>

#include <support/child_process.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden {

namespace {

int calls_of_first = 0;
int calls_of_second = 0;
void first(const ReleaseFailure&) noexcept { ++calls_of_first; }
void second(const ReleaseFailure&) noexcept { ++calls_of_second; }

}  // namespace

TEST_CASE("The installed handler is told everything about a failed release", "[core]") {
    testing::ReleaseFailureLog log;
    const int somewhere = 0;
    const Site site = Site::current();
    report_release_failure(
        {.text = "munlock failed", .address = &somewhere, .bytes = 4096, .code = 12, .site = site});
    const auto failures = log.take();
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].text == "munlock failed");
    CHECK(failures[0].address == &somewhere);
    CHECK(failures[0].bytes == 4096);
    CHECK(failures[0].code == 12);
    CHECK(failures[0].line == site.line());
}

TEST_CASE("A handler is replaced and restored, and only the installed one is called", "[core]") {
    calls_of_first = 0;
    calls_of_second = 0;
    const ReleaseFailureHandler original = set_release_failure_handler(&first);
    CHECK(original != nullptr);
    report_release_failure({.text = "one"});
    CHECK(set_release_failure_handler(&second) == &first);
    report_release_failure({.text = "two"});
    report_release_failure({.text = "three"});
    CHECK(set_release_failure_handler(original) == &second);
    CHECK(calls_of_first == 1);
    CHECK(calls_of_second == 2);
}

TEST_CASE("A null handler brings the default one back", "[core]") {
    const ReleaseFailureHandler original = set_release_failure_handler(nullptr);
    const ReleaseFailureHandler standard = set_release_failure_handler(&first);
    CHECK(standard != nullptr);
    CHECK(set_release_failure_handler(nullptr) == &first);
    CHECK(set_release_failure_handler(original) == standard);
}

TEST_CASE("By default the text is one line on the standard error stream", "[core]") {
    const auto child = testing::run_in_child([] {
        report_release_failure({.text = "munmap(0x1000, 4096) failed"});
        report_release_failure({.text = ""});
        return std::string("went on");
    });
    CHECK(child.exit_status == 0);
    CHECK(child.answer == "went on");
    CHECK(child.errors == "pinwarden: munmap(0x1000, 4096) failed\npinwarden: \n");
}

}  // namespace pinwarden
