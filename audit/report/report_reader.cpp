// SPDX-License-Identifier: Apache-2.0
#include "report/report_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json_node.hpp"

namespace pinwarden::audit {
namespace {

using Json = JsonNode::Json;

constexpr std::array states{PinState::live, PinState::cached, PinState::in_flight, PinState::quarantined};

[[noreturn]] void refuse(const std::string& name, std::string_view problem) {
    throw ReportError(no_report_text(name, problem));
}

Tally tally_of(const JsonNode& node) {
    node.expect_only({"pins", "bytes", "locked_bytes"});
    return {node.at("pins").count(), node.at("bytes").count(), node.at("locked_bytes").count()};
}

Counts counts_of(const JsonNode& node) {
    node.expect_only({"live", "cached", "in_flight", "quarantined", "left_to_system"});
    return {.live = tally_of(node.at("live")),
            .cached = tally_of(node.at("cached")),
            .in_flight = tally_of(node.at("in_flight")),
            .quarantined = tally_of(node.at("quarantined")),
            .left_to_system = tally_of(node.at("left_to_system"))};
}

PinState state_of(const JsonNode& node) {
    const std::string text = node.text();
    const auto* const found = std::ranges::find(states, text, [](PinState state) { return to_string(state); });
    if (found == states.end()) node.refuse("live, cached, in_flight or quarantined");
    return *found;
}

std::string address_of(const JsonNode& node) {
    std::string text = node.text();
    const bool is_address = text.size() > 2 && text.starts_with("0x") &&
                            text.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
    if (!is_address) node.refuse("an address such as 0x7f00c0de0000");
    return text;
}

std::uint32_t line_of(const JsonNode& node) {
    return static_cast<std::uint32_t>(node.count(0, std::numeric_limits<std::uint32_t>::max()));
}

StoredFrame frame_of(const JsonNode& node) {
    node.expect_only({"address", "module", "function", "file", "line"});
    return {.address = address_of(node.at("address")),
            .module = node.at("module").text(),
            .function = node.at("function").text(),
            .file = node.at("file").text(),
            .line = line_of(node.at("line"))};
}

StoredPin pin_of(const JsonNode& node) {
    node.expect_only({"address", "bytes", "locked_bytes", "state", "backend", "label", "scope", "file", "line",
                      "function", "thread", "age_ns", "detail", "process", "stack"});
    StoredPin pin{.process = node.has("process") ? node.at("process").text() : std::string(),
                  .address = address_of(node.at("address")),
                  .bytes = node.at("bytes").count(),
                  .locked_bytes = node.at("locked_bytes").count(),
                  .state = state_of(node.at("state")),
                  .backend = node.at("backend").text(),
                  .label = node.at("label").text(),
                  .scope = node.at("scope").text(),
                  .file = node.at("file").text(),
                  .line = line_of(node.at("line")),
                  .function = node.at("function").text(),
                  .thread = node.at("thread").text(),
                  .age_ns = node.at("age_ns").count(),
                  .detail = node.at("detail").text()};
    if (node.has("stack")) {
        node.at("stack").for_each([&](const JsonNode& frame) { pin.stack.push_back(frame_of(frame)); });
    }
    return pin;
}

StoredProcess process_of(const JsonNode& node) {
    node.expect_only({"name", "counts", "peak_locked_bytes", "kernel_locked_bytes"});
    return {.name = node.at("name").text(),
            .counts = counts_of(node.at("counts")),
            .peak_locked_bytes = node.at("peak_locked_bytes").count(),
            .kernel_locked_bytes = node.at("kernel_locked_bytes").count()};
}

StreamTally stream_of(const JsonNode& node) {
    node.expect_only({"stream", "pins", "bytes"});
    return {.stream = node.at("stream").text(), .pins = node.at("pins").count(1), .bytes = node.at("bytes").count()};
}

// Whose numbers do not agree was cut or changed, and nothing else in it can be trusted.
void check_agreement(const StoredReport& report, bool says_clean, const std::string& name) {
    Counts listed;
    for (const StoredPin& pin : report.pins) {
        Tally& tally = listed.of(pin.state);
        tally.pins += 1;
        tally.bytes += pin.bytes;
        tally.locked_bytes += pin.locked_bytes;
    }
    for (const PinState state : states) {
        const Tally& said = report.counts.of(state);
        const Tally& found = listed.of(state);
        if (said == found) continue;
        refuse(name, fmt::format("it contradicts itself: 'counts.{}' says {} pins, {} bytes and {} locked bytes, but "
                                 "'pins' lists {}, {} and {}",
                                 to_string(state), said.pins, said.bytes, said.locked_bytes, found.pins, found.bytes,
                                 found.locked_bytes));
    }
    if (says_clean != report.is_clean()) {
        refuse(name, fmt::format("it contradicts itself: 'clean' is {}, but it counts {} live pins and {} in flight",
                                 says_clean, report.counts.live.pins, report.counts.in_flight.pins));
    }
}

std::string place(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, std::min(position, text.size()));
    const auto line = 1 + std::ranges::count(before, '\n');
    return fmt::format("line {}, byte {}", line, before.size() + 1);
}

Json parse(std::string_view text, const std::string& name) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse(name, "it is empty");
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        // The parser says which byte it could not use, and one beyond the last where it wanted more.
        if (error.byte > text.size()) {
            refuse(name, fmt::format("it ends too early, at {}: it was truncated, or is still being written",
                                     place(text, text.size())));
        }
        refuse(name, fmt::format("it is no JSON from {} on", place(text, error.byte == 0 ? 0 : error.byte - 1)));
    }
}

}  // namespace

StoredReport read_report(std::string_view json, const std::string& name) {
    const Json document = parse(json, name);
    const JsonNode node(document, name);
    if (const JsonNode schema = node.at("schema"); schema.text() != "pinwarden-leak-report") {
        schema.refuse("\"pinwarden-leak-report\"");
    }
    if (const auto version = node.at("version").count(); version != LeakReport::schema_version) {
        throw ReportError(fmt::format(
            "'{}' is a leak report of version {}, and this program reads version {}; use the `pinwarden` of the "
            "version that wrote it, or write it anew",
            name, version, LeakReport::schema_version));
    }
    node.expect_only({"schema", "version", "process", "scope", "clean", "counts", "in_flight_by_stream", "fallbacks",
                      "peak_locked_bytes", "kernel_locked_bytes", "processes", "pins"});
    StoredReport report{.process = node.has("process") ? node.at("process").text() : std::string(),
                        .scope = node.at("scope").text(),
                        .counts = counts_of(node.at("counts")),
                        .fallbacks = tally_of(node.at("fallbacks")),
                        .peak_locked_bytes = node.at("peak_locked_bytes").count(),
                        .kernel_locked_bytes = node.at("kernel_locked_bytes").count()};
    const bool says_clean = node.at("clean").boolean();
    node.at("in_flight_by_stream").for_each([&](const JsonNode& stream) {
        report.in_flight_by_stream.push_back(stream_of(stream));
    });
    node.at("pins").for_each([&](const JsonNode& pin) { report.pins.push_back(pin_of(pin)); });
    if (node.has("processes")) {
        node.at("processes").for_each([&](const JsonNode& process) {
            report.processes.push_back(process_of(process));
        });
    }
    check_agreement(report, says_clean, name);
    return report;
}

}  // namespace pinwarden::audit
