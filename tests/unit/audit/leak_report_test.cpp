// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_report.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <support/json_schema.hpp>

namespace pinwarden::audit {

namespace {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

std::string schema() {
    std::ifstream file(PINWARDEN_DOCS "/leak-report.schema.json");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void check_schema(const std::string& document) {
    for (const std::string& problem : testing::schema_problems(schema(), document)) FAIL_CHECK(problem);
}

PinRecord record(PinState state, std::string label, std::size_t bytes, std::string detail = "") {
    PinRecord made;
    made.address = reinterpret_cast<const void*>(std::uintptr_t{0x7f00} << 16);
    made.bytes = bytes;
    made.locked_bytes = round_up(bytes, 4096);
    made.state = state;
    made.backend = "native";
    made.label = std::move(label);
    made.scope = "zero2";
    made.site = Site::current();
    made.age = std::chrono::milliseconds(1500);
    made.detail = std::move(detail);
    return made;
}

// One pin in every state, and everything else that a report can hold.
LeakReport full_report() {
    LeakReport report;
    report.scope = "zero2";
    report.records = {record(PinState::live, "hp_params", 5000), record(PinState::cached, "pool", 4096),
                      record(PinState::in_flight, "", 100, "used on stream copy"),
                      record(PinState::quarantined, "lp_grads", 1, "munmap failed with error 12")};
    report.records[2].streams = {{12, "copy"}, {5, "copy"}};
    report.counts = count(report.records);
    report.counts.left_to_system = {7, 70, 700};
    report.peak_locked_bytes = 1 << 20;
    report.kernel_locked_bytes = 20480;
    report.fallbacks = {3, 3000, 0};
    return report;
}

}  // namespace

TEST_CASE("Records are added up by their state", "[audit]") {
    const Counts counts = count({record(PinState::live, "", 1), record(PinState::live, "", 5000),
                                 record(PinState::quarantined, "", 10)});
    CHECK(counts.live == Tally{2, 5001, 3 * 4096});
    CHECK(counts.quarantined == Tally{1, 10, 4096});
    CHECK(counts.cached == Tally{});
    CHECK(counts.in_flight == Tally{});
    CHECK(count({}) == Counts{});
}

TEST_CASE("A report is clean while nothing is live and nothing in flight", "[audit]") {
    LeakReport report;
    CHECK(report.is_clean());
    report.counts.quarantined = {1, 1, 1};
    report.counts.cached = {1, 1, 1};
    report.counts.left_to_system = {1, 1, 1};
    CHECK(report.is_clean());
    report.counts.live = {1, 1, 1};
    CHECK_FALSE(report.is_clean());
    report.counts.live = {};
    report.counts.in_flight = {1, 1, 0};
    CHECK_FALSE(report.is_clean());
}

TEST_CASE("The report of the process is what the registry and the kernel say", "[audit]") {
    const PinnedBuffer<int> buffer(10, {.backend = std::make_shared<ScriptedBackend>(), .label = "mine"});
    const LeakReport report = LeakReport::of_process();
    const Registry& registry = Registry::instance();
    CHECK(report.scope.empty());
    CHECK(report.counts == registry.counts());
    CHECK(report.records.size() == registry.snapshot().size());
    CHECK(report.peak_locked_bytes == registry.peak_locked_bytes());
    CHECK(report.kernel_locked_bytes == kernel_locked_bytes());
    CHECK(report.fallbacks == registry.fallbacks());
    CHECK_FALSE(report.is_clean());
}

TEST_CASE("The text has a verdict, a line of counts for each state, and a line for each pin", "[audit]") {
    const LeakReport report = full_report();
    const std::string text = to_text(report);
    CHECK(text.starts_with("scope 'zero2': 1 live and 1 in flight\n"));
    CHECK_THAT(text,
               ContainsSubstring("\n  live                1 pin  5000 bytes (4.9 KiB) asked, 8192 bytes"));
    CHECK_THAT(text, ContainsSubstring("\n  cached ") && ContainsSubstring("\n  in_flight ") &&
                         ContainsSubstring("\n  quarantined "));
    CHECK_THAT(text, ContainsSubstring("\n  left_to_system      7 pins 70 bytes asked, 700 bytes locked"));
    CHECK_THAT(text, ContainsSubstring("3 preferred pins of 3000 bytes (2.9 KiB) became pageable memory"));
    CHECK_THAT(text, ContainsSubstring(
                         "peak was 1048576 bytes (1.0 MiB); the kernel counts 20480 bytes (20.0 KiB)"));
    const std::string place = std::string(report.records[0].site.file_name()) + ":" +
                              std::to_string(report.records[0].site.line()) + ": ";
    CHECK_THAT(text, ContainsSubstring(
                         "\n  " + place + "live 'hp_params' of 5000 bytes (4.9 KiB) at 0x7f000000, " +
                         "8192 bytes (8.0 KiB) locked by the native backend, 1.500 s old, scope 'zero2'"));
    CHECK_THAT(text, ContainsSubstring("in_flight 'unlabelled' of 100 bytes"));
    CHECK_THAT(text, ContainsSubstring(", used on stream copy"));
    CHECK_THAT(text, ContainsSubstring("\n    waiting for stream 'copy': 1 pin of 100 bytes\n"));
    CHECK_THAT(text, ContainsSubstring(", munmap failed with error 12"));
}

TEST_CASE("The text of a clean report says so and lists nothing", "[audit]") {
    const std::string text = to_text(LeakReport{});
    CHECK(text.starts_with("the process: no pin is live and none is in flight\n"));
    CHECK_THAT(text, !ContainsSubstring("left_to_system") && !ContainsSubstring("preferred"));
    CHECK_THAT(text, !ContainsSubstring(".cpp:"));
}

TEST_CASE("Blocks in flight are counted with every stream that they wait for", "[audit]") {
    LeakReport report;
    report.records = {record(PinState::in_flight, "", 100), record(PinState::in_flight, "", 20),
                      record(PinState::in_flight, "", 3), record(PinState::live, "", 4000)};
    report.records[0].streams = {{8, "gradients"}, {2, "parameters"}};
    report.records[1].streams = {{8, "gradients"}};
    report.records[3].streams = {{8, "gradients"}};  // live: it waits for nothing yet
    CHECK(report.in_flight_by_stream() ==
          std::vector<StreamTally>{{2, "parameters", 1, 100}, {8, "gradients", 2, 120}});
    CHECK(LeakReport{}.in_flight_by_stream().empty());
}

TEST_CASE("The JSON keeps to the published schema", "[audit]") {
    check_schema(to_json(full_report()));
    check_schema(to_json(LeakReport{}));
    const PinnedBuffer<int> buffer(10, {.backend = std::make_shared<ScriptedBackend>()});
    check_schema(to_json(LeakReport::of_process()));
}

TEST_CASE("The published schema refuses what is no report", "[audit]") {
    const auto problems_after = [](auto&& change) {
        Json document = Json::parse(to_json(full_report()));
        change(document);
        return testing::schema_problems(schema(), document.dump());
    };
    REQUIRE(problems_after([](Json&) {}).empty());
    CHECK(problems_after([](Json& report) { report["version"] = 1; }).size() == 1);
    CHECK(problems_after([](Json& report) { report.erase("clean"); }).size() == 1);
    CHECK(problems_after([](Json& report) { report["surprise"] = 1; }).size() == 1);
    CHECK(problems_after([](Json& report) { report["counts"]["live"]["pins"] = -1; }).size() == 1);
    CHECK(problems_after([](Json& report) { report["pins"][2]["state"] = "lost"; }).size() == 1);
    CHECK(problems_after([](Json& report) { report["pins"][0]["address"] = "7f00"; }).size() == 1);
    CHECK(problems_after([](Json& report) { report["pins"][1]["line"] = "12"; }).size() == 1);
    CHECK(problems_after([](Json& report) { report["pins"] = 0; }).size() == 1);
    CHECK_THROWS(testing::schema_problems(R"({"maxItems": 1})", "[]"));
}

TEST_CASE("The JSON holds the report's own numbers", "[audit]") {
    const LeakReport report = full_report();
    const Json document = Json::parse(to_json(report));
    CHECK(document["schema"] == "pinwarden-leak-report");
    CHECK(document["version"] == LeakReport::schema_version);
    CHECK(document["scope"] == "zero2");
    CHECK(document["clean"] == false);
    CHECK(document["counts"]["live"] == Json({{"pins", 1}, {"bytes", 5000}, {"locked_bytes", 8192}}));
    CHECK(document["counts"]["left_to_system"]["locked_bytes"] == 700);
    CHECK(document["fallbacks"]["pins"] == 3);
    CHECK(document["peak_locked_bytes"] == 1 << 20);
    CHECK(document["kernel_locked_bytes"] == 20480);
    CHECK(document["in_flight_by_stream"] ==
          Json::array({{{"stream", "copy"}, {"pins", 1}, {"bytes", 100}},
                       {{"stream", "copy"}, {"pins", 1}, {"bytes", 100}}}));
    REQUIRE(document["pins"].size() == 4);
    const Json& pin = document["pins"][2];
    CHECK(pin["address"] == "0x7f000000");
    CHECK(pin["state"] == "in_flight");
    CHECK(pin["label"] == "");
    CHECK(pin["line"] == report.records[2].site.line());
    CHECK(pin["file"] == report.records[2].site.file_name());
    CHECK(pin["age_ns"] == 1500000000);
    CHECK(pin["detail"] == "used on stream copy");
}

TEST_CASE("A label of any bytes leaves the JSON readable", "[audit]") {
    LeakReport report;
    report.scope = "quote \" backslash \\ newline \n";
    report.records = {record(PinState::live, "no UTF-8: \xff\xfe", 1)};
    report.counts = count(report.records);
    const std::string text = to_json(report);
    check_schema(text);
    const Json document = Json::parse(text);
    CHECK(document["scope"] == report.scope);
    CHECK_THAT(document["pins"][0]["label"].get<std::string>(), ContainsSubstring("\xEF\xBF\xBD"));
}

TEST_CASE("A leak error carries the report and its text", "[audit]") {
    const LeakReport report = full_report();
    const LeakError error(report);
    CHECK(error.what() == to_text(report));
    CHECK(error.report().records.size() == 4);
    CHECK_THROWS_AS(throw LeakError(report), Error);
}

}  // namespace pinwarden::audit
