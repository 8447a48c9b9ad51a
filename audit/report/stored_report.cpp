// SPDX-License-Identifier: Apache-2.0
#include "report/stored_report.hpp"

#include <array>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "report/symboliser.hpp"

namespace pinwarden::audit {
namespace {

// As the launchers call them: Open MPI, MPICH and its kin, Slurm, torchrun.
constexpr std::array rank_variables{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"};

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
    return name.data();
}

std::string text_of(const std::thread::id& thread) {
    std::ostringstream text;
    text << thread;
    return text.str();
}

StoredPin stored(const PinRecord& record, Symboliser& symboliser) {
    return {.address = fmt::format("{}", record.address),
            .bytes = record.bytes,
            .locked_bytes = record.locked_bytes,
            .state = record.state,
            .backend = record.backend,
            .label = record.label,
            .scope = record.scope,
            .file = record.site.file_name(),
            .line = record.site.line(),
            .function = record.site.function_name(),
            .thread = text_of(record.thread),
            .age_ns = static_cast<std::uint64_t>(record.age.count()),
            .detail = record.detail,
            .stack = symboliser.frames(record.stack)};
}

}  // namespace

std::string name_of_this_process() {
    const std::string process = fmt::format("{}@{}", ::getpid(), host_name());
    for (const char* const variable : rank_variables) {
        const char* const rank = std::getenv(variable);
        if (rank != nullptr && *rank != '\0') return fmt::format("rank {} ({})", rank, process);
    }
    return process;
}

StoredReport stored(const LeakReport& report) {
    StoredReport made{.process = name_of_this_process(),
                      .scope = report.scope,
                      .counts = report.counts,
                      .in_flight_by_stream = report.in_flight_by_stream(),
                      .fallbacks = report.fallbacks,
                      .peak_locked_bytes = report.peak_locked_bytes,
                      .kernel_locked_bytes = report.kernel_locked_bytes};
    for (StreamTally& tally : made.in_flight_by_stream) tally.queue = 0;
    made.pins.reserve(report.records.size());
    Symboliser symboliser;
    for (const PinRecord& record : report.records) made.pins.push_back(stored(record, symboliser));
    return made;
}

}  // namespace pinwarden::audit
