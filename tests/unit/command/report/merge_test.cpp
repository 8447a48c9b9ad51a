// SPDX-License-Identifier: Apache-2.0
#include <command/report/merge.hpp>

#include <report/report_reader.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/stored_reports.hpp>

namespace pinwarden::command {

namespace {

using audit::StoredReport;
using audit::Tally;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using testing::eventful_report;

StoredReport report_of(const std::string& process) {
    StoredReport report = eventful_report();
    report.process = process;
    return report;
}

}  // namespace

TEST_CASE("Merged reports add up, and each pin says whose it is") {
    const StoredReport one = eventful_report();
    const StoredReport merged = merge_reports({{"a.json", report_of("rank 0")}, {"b.json", report_of("rank 1")}});
    CHECK(merged.process.empty());
    CHECK(merged.scope == "zero2");
    for (const auto state : {audit::PinState::live, audit::PinState::cached, audit::PinState::in_flight,
                             audit::PinState::quarantined}) {
        CHECK(merged.counts.of(state).pins == 2 * one.counts.of(state).pins);
        CHECK(merged.counts.of(state).bytes == 2 * one.counts.of(state).bytes);
        CHECK(merged.counts.of(state).locked_bytes == 2 * one.counts.of(state).locked_bytes);
    }
    CHECK(merged.counts.left_to_system == Tally{14, 140, 1400});
    CHECK(merged.fallbacks == Tally{6, 6000, 0});
    CHECK(merged.peak_locked_bytes == 2 * one.peak_locked_bytes);
    CHECK(merged.kernel_locked_bytes == 2 * one.kernel_locked_bytes);
    CHECK(merged.in_flight_by_stream.size() == 2);
    REQUIRE(merged.processes.size() == 2);
    CHECK(merged.processes[1].name == "rank 1");
    CHECK(merged.processes[1].counts == one.counts);
    REQUIRE(merged.pins.size() == 2 * one.pins.size());
    CHECK(merged.pins.front().process == "rank 0");
    CHECK(merged.pins.back().process == "rank 1");
    CHECK(merged.pins.back().label == one.pins.back().label);
}

TEST_CASE("What was merged may be merged again, as if all had been merged at once") {
    const StoredReport at_once = merge_reports(
        {{"a.json", report_of("a")}, {"b.json", report_of("b")}, {"c.json", report_of("c")}});
    const StoredReport first = merge_reports({{"a.json", report_of("a")}, {"b.json", report_of("b")}});
    CHECK(merge_reports({{"ab.json", first}, {"c.json", report_of("c")}}) == at_once);
    CHECK(merge_reports({{"abc.json", at_once}}) == at_once);
}

TEST_CASE("A report without a process is named after its file, and different scopes become none") {
    StoredReport nameless = report_of("");
    nameless.scope = "other";
    const StoredReport merged = merge_reports({{"a.json", nameless}, {"b.json", report_of("b")}});
    CHECK(merged.processes.at(0).name == "a.json");
    CHECK(merged.scope.empty());
}

TEST_CASE("Two reports of one process are refused, also where one was merged before") {
    const StoredReport both = merge_reports({{"a.json", report_of("a")}, {"b.json", report_of("b")}});
    CHECK_THROWS_MATCHES(
        merge_reports({{"first.json", both}, {"second.json", report_of("b")}}), audit::ReportError,
        MessageMatches(ContainsSubstring("'first.json' and 'second.json' are both reports of the process 'b'")));
    CHECK_THROWS_AS(merge_reports({{"a.json", report_of("a")}, {"a.json", report_of("a")}}), audit::ReportError);
}

}  // namespace pinwarden::command
