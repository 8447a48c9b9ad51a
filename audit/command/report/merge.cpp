// SPDX-License-Identifier: Apache-2.0
#include "command/report/merge.hpp"

#include "report/report_reader.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

namespace pinwarden::command {

namespace {

using audit::PinState;
using audit::StoredPin;
using audit::StoredProcess;
using audit::StoredReport;
using audit::Tally;

void add(Tally& sum, const Tally& tally) {
    sum.pins += tally.pins;
    sum.bytes += tally.bytes;
    sum.locked_bytes += tally.locked_bytes;
}

void add(audit::Counts& sum, const audit::Counts& counts) {
    add(sum.live, counts.live);
    add(sum.cached, counts.cached);
    add(sum.in_flight, counts.in_flight);
    add(sum.quarantined, counts.quarantined);
    add(sum.left_to_system, counts.left_to_system);
}

/// Gives a report of one process the form that a report of several has.
void name_process(NamedReport& named) {
    StoredReport& report = named.report;
    if (!report.processes.empty()) return;
    const std::string name = report.process.empty() ? named.file : report.process;
    report.processes.push_back({.name = name,
                                .counts = report.counts,
                                .peak_locked_bytes = report.peak_locked_bytes,
                                .kernel_locked_bytes = report.kernel_locked_bytes});
    for (StoredPin& pin : report.pins) pin.process = name;
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

StoredReport merge_reports(std::vector<NamedReport> reports) {
    StoredReport merged;
    std::map<std::string, std::string> file_of;
    if (!reports.empty()) merged.scope = reports.front().report.scope;
    for (NamedReport& named : reports) {
        name_process(named);
        StoredReport& report = named.report;
        for (const StoredProcess& process : report.processes) {
            const auto [place, is_new] = file_of.try_emplace(process.name, named.file);
            if (is_new) continue;
            throw audit::ReportError(fmt::format(
                "'{}' and '{}' are both reports of the process '{}', whose pins would be counted twice; give one "
                "report of each process",
                place->second, named.file, process.name));
        }
        if (report.scope != merged.scope) merged.scope.clear();
        add(merged.counts, report.counts);
        add(merged.fallbacks, report.fallbacks);
        merged.peak_locked_bytes += report.peak_locked_bytes;
        merged.kernel_locked_bytes += report.kernel_locked_bytes;
        append(merged.in_flight_by_stream, report.in_flight_by_stream);
        append(merged.processes, report.processes);
        append(merged.pins, report.pins);
    }
    return merged;
}

}  // namespace pinwarden::command
