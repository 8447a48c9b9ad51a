// SPDX-License-Identifier: Apache-2.0
/// @file
/// Looking at the audit with each allocation failing once: it throws or it answers, and it disturbs nothing.
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <support/audit_state.hpp>
#include <support/failing_new.hpp>
#include <support/release_failure_log.hpp>

namespace pinwarden::testing {

namespace {

const std::string long_label(200, 'y');

}  // namespace

TEST_CASE("Whichever allocation of a look at the audit fails, the audit stays as it is", "[fault]") {
    audit::Scope scope(long_label);
    const PinnedBuffer<int> buffer(
        10, {.backend = std::make_shared<ScriptedBackend>(), .scope = scope, .label = long_label});
    const AuditState before = AuditState::now();
    const auto unchanged = [&] { CHECK(AuditState::now() == before); };
    const auto& registry = audit::Registry::instance();

    CHECK(for_each_failing_new([&] { static_cast<void>(registry.snapshot()); }, unchanged) > 0);
    CHECK(for_each_failing_new([&] { static_cast<void>(registry.find(buffer.data())); }, unchanged) > 0);
    CHECK(for_each_failing_new([&] { static_cast<void>(scope.report()); }, unchanged) > 0);
    CHECK(for_each_failing_new([&] { static_cast<void>(audit::LeakReport::of_process()); }, unchanged) > 0);
    CHECK(for_each_failing_new([&] { static_cast<void>(scope.close(std::chrono::nanoseconds(0))); },
                               unchanged) > 0);

    const audit::LeakReport report = scope.report();
    CHECK(for_each_failing_new([&] { static_cast<void>(to_text(report)); }, unchanged) > 0);
    CHECK(for_each_failing_new([&] { static_cast<void>(to_junit(report)); }, unchanged) > 0);
    // Not to_json() and to_sarif(): the JSON library's destructor allocates, so a program ends that runs out of memory
    // there.
    CHECK(for_each_failing_new([&] { static_cast<void>(audit::LeakError(report)); }, unchanged) > 0);
    CHECK(for_each_failing_new([&] { static_cast<void>(audit::Scope("empty " + long_label)); }, unchanged) >
          0);
    const std::size_t allocations = allocations_of_this_thread();
    static_cast<void>(registry.counts());
    CHECK(allocations_of_this_thread() == allocations);
}

TEST_CASE("A scope that ends with live pins reports something even without memory", "[fault]") {
    ReleaseFailureLog log;
    for (std::size_t nth = 1;; ++nth) {
        std::optional<audit::Scope> scope(long_label);
        const PinnedBuffer<int> buffer(10, {.backend = std::make_shared<ScriptedBackend>(), .scope = *scope});
        bool failed = false;
        {
            const FailingNew failing(nth);
            scope.reset();
            failed = failing.failed();
        }
        const auto failures = log.take();
        REQUIRE(failures.size() == 1);
        CHECK(failures[0].bytes == buffer.locked_bytes());
        if (!failed) break;
    }
}

TEST_CASE("A scope that ends without live pins is silent, with or without memory", "[fault]") {
    ReleaseFailureLog log;
    for (std::size_t nth = 1; nth <= 5; ++nth) {
        std::optional<audit::Scope> scope(long_label);
        const FailingNew failing(nth);
        scope.reset();
    }
    CHECK(log.take().empty());
}

}  // namespace pinwarden::testing
