// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/leak_report.hpp>

#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pinwarden::audit {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Tally& tally) {
    return {{"pins", tally.pins}, {"bytes", tally.bytes}, {"locked_bytes", tally.locked_bytes}};
}

std::string text_of(const std::thread::id& thread) {
    std::ostringstream text;
    text << thread;
    return text.str();
}

Json json_of(const PinRecord& record) {
    return {{"address", fmt::format("{}", record.address)},
            {"bytes", record.bytes},
            {"locked_bytes", record.locked_bytes},
            {"state", to_string(record.state)},
            {"backend", record.backend},
            {"label", record.label},
            {"scope", record.scope},
            {"file", record.site.file_name()},
            {"line", record.site.line()},
            {"function", record.site.function_name()},
            {"thread", text_of(record.thread)},
            {"age_ns", record.age.count()},
            {"detail", record.detail}};
}

}  // namespace

std::string to_json(const LeakReport& report) {
    Json pins = Json::array();
    for (const PinRecord& record : report.records) pins.push_back(json_of(record));
    Json streams = Json::array();
    for (const StreamTally& tally : report.in_flight_by_stream()) {
        streams.push_back({{"stream", tally.stream}, {"pins", tally.pins}, {"bytes", tally.bytes}});
    }
    const Json document = {{"schema", "pinwarden-leak-report"},
                           {"version", LeakReport::schema_version},
                           {"scope", report.scope},
                           {"clean", report.is_clean()},
                           {"counts",
                            {{"live", json_of(report.counts.live)},
                             {"cached", json_of(report.counts.cached)},
                             {"in_flight", json_of(report.counts.in_flight)},
                             {"quarantined", json_of(report.counts.quarantined)},
                             {"left_to_system", json_of(report.counts.left_to_system)}}},
                           {"in_flight_by_stream", std::move(streams)},
                           {"fallbacks", json_of(report.fallbacks)},
                           {"peak_locked_bytes", report.peak_locked_bytes},
                           {"kernel_locked_bytes", report.kernel_locked_bytes},
                           {"pins", std::move(pins)}};
    // Labels are the caller's bytes: what is no UTF-8 becomes U+FFFD rather than an exception.
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pinwarden::audit
