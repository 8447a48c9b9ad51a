// SPDX-License-Identifier: Apache-2.0
#include "report/report_format.hpp"

#include <nlohmann/json.hpp>

namespace pinwarden::audit {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Tally& tally) {
    return {{"pins", tally.pins}, {"bytes", tally.bytes}, {"locked_bytes", tally.locked_bytes}};
}

Json json_of(const Counts& counts) {
    return {{"live", json_of(counts.live)},
            {"cached", json_of(counts.cached)},
            {"in_flight", json_of(counts.in_flight)},
            {"quarantined", json_of(counts.quarantined)},
            {"left_to_system", json_of(counts.left_to_system)}};
}

Json json_of(const StoredFrame& frame) {
    return {{"address", frame.address},
            {"module", frame.module},
            {"function", frame.function},
            {"file", frame.file},
            {"line", frame.line}};
}

Json json_of(const StoredPin& pin) {
    Json json = {{"address", pin.address},
                 {"bytes", pin.bytes},
                 {"locked_bytes", pin.locked_bytes},
                 {"state", to_string(pin.state)},
                 {"backend", pin.backend},
                 {"label", pin.label},
                 {"scope", pin.scope},
                 {"file", pin.file},
                 {"line", pin.line},
                 {"function", pin.function},
                 {"thread", pin.thread},
                 {"age_ns", pin.age_ns},
                 {"detail", pin.detail}};
    if (!pin.process.empty()) json["process"] = pin.process;
    if (!pin.stack.empty()) {
        Json& frames = json["stack"] = Json::array();
        for (const StoredFrame& frame : pin.stack) frames.push_back(json_of(frame));
    }
    return json;
}

Json json_of(const StoredProcess& process) {
    return {{"name", process.name},
            {"counts", json_of(process.counts)},
            {"peak_locked_bytes", process.peak_locked_bytes},
            {"kernel_locked_bytes", process.kernel_locked_bytes}};
}

}  // namespace

std::string write_json(const StoredReport& report) {
    Json pins = Json::array();
    for (const StoredPin& pin : report.pins) pins.push_back(json_of(pin));
    Json streams = Json::array();
    for (const StreamTally& tally : report.in_flight_by_stream) {
        streams.push_back({{"stream", tally.stream}, {"pins", tally.pins}, {"bytes", tally.bytes}});
    }
    Json document = {{"schema", "pinwarden-leak-report"}, {"version", LeakReport::schema_version}};
    if (!report.process.empty()) document["process"] = report.process;
    document["scope"] = report.scope;
    document["clean"] = report.is_clean();
    document["counts"] = json_of(report.counts);
    document["in_flight_by_stream"] = std::move(streams);
    document["fallbacks"] = json_of(report.fallbacks);
    document["peak_locked_bytes"] = report.peak_locked_bytes;
    document["kernel_locked_bytes"] = report.kernel_locked_bytes;
    if (!report.processes.empty()) {
        Json& processes = document["processes"] = Json::array();
        for (const StoredProcess& process : report.processes) processes.push_back(json_of(process));
    }
    document["pins"] = std::move(pins);
    // Labels are the caller's bytes: what is no UTF-8 becomes U+FFFD rather than an exception.
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pinwarden::audit
