// SPDX-License-Identifier: Apache-2.0
#include "report/report_format.hpp"

#include <pinwarden/core/bytes.hpp>

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/pin_groups.hpp"
#include "report/pin_text.hpp"
#include "report/plain_text.hpp"

namespace pinwarden::audit {
namespace {

using Json = nlohmann::ordered_json;

struct Rule {
    PinState state;
    std::string_view id;
    std::string_view level;
    std::string_view summary;
    std::string_view help;
};

// A block that a pool keeps is there on purpose, so `cached` has no rule.
constexpr std::array rules{
    Rule{PinState::live, "live-pin", "error", "A pin is still held by a handle",
         "The handle that owns this pinned memory was alive when the report was made. Destroy it, or its owner, "
         "before that."},
    Rule{PinState::in_flight, "pin-in-flight", "warning", "A pin waits for a copy that has not ended",
         "The handle is gone, but a stream still uses the memory. Wait for the stream before the report is made; a "
         "stream that never ends keeps its memory for good."},
    Rule{PinState::quarantined, "quarantined-pin", "warning", "The memory of a pin could not be unpinned",
         "The system refused to unpin this memory, so it is kept and never reused. The message says which call "
         "failed and what it answered."}};

const Rule* rule_of(PinState state) {
    for (const Rule& rule : rules) {
        if (rule.state == state) return &rule;
    }
    return nullptr;
}

// A file name as a URI (RFC 3986): each byte that has a meaning there, or is no ASCII, by its number.
std::string uri_of(std::string_view file) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/+";
    std::string uri = file.starts_with('/') ? "file://" : "";
    for (const char byte : file) {
        if (plain.find(byte) != std::string_view::npos) {
            uri += byte;
        } else {
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(byte));
        }
    }
    return uri;
}

Json location_of(const std::string& file, std::uint32_t line, const std::string& function) {
    Json location = Json::object();
    if (!file.empty()) {
        Json artifact = {{"uri", uri_of(file)}};
        // A relative name is meant from the root of the sources, which the reader knows.
        if (!file.starts_with('/')) artifact["uriBaseId"] = "%SRCROOT%";
        Json physical = {{"artifactLocation", std::move(artifact)}};
        if (line != 0) physical["region"] = {{"startLine", line}};
        location["physicalLocation"] = std::move(physical);
    }
    if (!function.empty()) {
        location["logicalLocations"] = Json::array({{{"fullyQualifiedName", function}, {"kind", "function"}}});
    }
    return location;
}

Json stack_of(const StoredPin& pin) {
    Json frames = Json::array();
    for (const StoredFrame& frame : pin.stack) {
        Json location = location_of(frame.file, frame.line, frame.function);
        location["message"] = {{"text", line_of(frame)}};
        Json made = {{"location", std::move(location)}};
        if (!frame.module.empty()) made["module"] = frame.module;
        frames.push_back(std::move(made));
    }
    return {{"message", {{"text", fmt::format("The calls that pinned {}", printable(pin.address))}}},
            {"frames", std::move(frames)}};
}

std::string message_of(const PinGroup& group) {
    const StoredPin& first = *group.pins.front();
    const std::string label = group.identity.label.empty() ? "unlabelled" : printable(group.identity.label);
    std::string text =
        group.tally.pins == 1
            ? fmt::format("The pin '{}' of {}, asked for here, is {}", label, format_bytes(first.bytes),
                          to_string(first.state))
            : fmt::format("{} pins '{}' of together {}, asked for here, are {}", group.tally.pins, label,
                          format_bytes(group.tally.bytes), to_string(first.state));
    if (!first.scope.empty()) text += fmt::format("; scope '{}'", printable(first.scope));
    if (!first.process.empty()) text += fmt::format("; first in process '{}'", printable(first.process));
    if (!first.detail.empty()) text += fmt::format("; {}", printable(first.detail));
    return text + ".";
}

Json result_of(const PinGroup& group, const Rule& rule, std::size_t occurrence) {
    Json result = {{"ruleId", rule.id},
                   {"ruleIndex", &rule - rules.data()},
                   {"level", rule.level},
                   {"message", {{"text", message_of(group)}}},
                   {"locations", Json::array({location_of(group.identity.file, group.line,
                                                          group.identity.function)})},
                   // The second part tells lines of one function apart without naming them.
                   {"partialFingerprints",
                    {{"pinwardenPin/v1", fmt::format("{}:{}", fingerprint(group.identity), occurrence)}}},
                   {"occurrenceCount", group.tally.pins}};
    Json stacks = Json::array();
    for (const StoredPin* const pin : group.pins) {
        // Pins of one line mostly come by one way; a result need not repeat it a thousand times.
        constexpr std::size_t most_stacks = 8;
        if (pin->stack.empty() || stacks.size() == most_stacks) continue;
        stacks.push_back(stack_of(*pin));
    }
    if (!stacks.empty()) result["stacks"] = std::move(stacks);
    result["properties"] = {{"bytes", group.tally.bytes},
                            {"lockedBytes", group.tally.locked_bytes},
                            {"backend", group.pins.front()->backend}};
    return result;
}

Json driver() {
    Json described = Json::array();
    for (const Rule& rule : rules) {
        described.push_back({{"id", rule.id},
                             {"shortDescription", {{"text", rule.summary}}},
                             {"help", {{"text", rule.help}}},
                             {"defaultConfiguration", {{"level", rule.level}}}});
    }
    return {{"name", "pinwarden"}, {"version", PINWARDEN_VERSION}, {"rules", std::move(described)}};
}

}  // namespace

std::string write_sarif(const StoredReport& report) {
    Json results = Json::array();
    const PinIdentity* previous = nullptr;
    std::size_t occurrence = 0;
    const std::vector<PinGroup> groups = group_by_line(report);
    for (const PinGroup& group : groups) {
        occurrence = previous != nullptr && *previous == group.identity ? occurrence + 1 : 1;
        previous = &group.identity;
        if (const Rule* const rule = rule_of(group.identity.state)) {
            results.push_back(result_of(group, *rule, occurrence));
        }
    }
    const Json document = {
        {"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
        {"version", "2.1.0"},
        {"runs", Json::array({{{"tool", {{"driver", driver()}}},
                               {"automationDetails", {{"id", "pinwarden/runtime/"}}},
                               {"columnKind", "unicodeCodePoints"},
                               {"results", std::move(results)}}})}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pinwarden::audit
