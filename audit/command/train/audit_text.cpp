// SPDX-License-Identifier: Apache-2.0
#include "command/train/audit_text.hpp"

#include <pinwarden/zero/low_precision.hpp>

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

namespace pinwarden::command {

namespace {

/// Collects lines of the form `name   value`.
class Lines {
public:
    void add(std::string_view name, std::string_view value) {
        fmt::format_to(std::back_inserter(text_), "  {:<10} {}\n", name, value);
    }
    void add_raw(std::string_view line) { text_.append(line).push_back('\n'); }

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

/// One row of the table of pins: what there was at the peak, and what is left of it.
struct Row {
    audit::Tally peak;
    audit::Tally end;
};

std::map<std::pair<std::string, audit::PinState>, Row> rows_of(const TrainingResult& result) {
    std::map<std::pair<std::string, audit::PinState>, Row> rows;
    for (const LabelledTally& entry : tally_by_label(result.records_at_peak)) {
        rows[{entry.label, entry.state}].peak = entry.tally;
    }
    for (const LabelledTally& entry : tally_by_label(result.final_report.records)) {
        rows[{entry.label, entry.state}].end = entry.tally;
    }
    return rows;
}

void add_to(audit::Tally& sum, const audit::Tally& tally) {
    sum.pins += tally.pins;
    sum.bytes += tally.bytes;
    sum.locked_bytes += tally.locked_bytes;
}

std::string table_row(std::string_view label, std::string_view state, const Row& row) {
    return fmt::format("  {:<36} {:<11} {:>5} {:>12} {:>12} | {:>5} {:>12} {:>12}", label, state,
                       row.peak.pins, row.peak.bytes, row.peak.locked_bytes, row.end.pins, row.end.bytes,
                       row.end.locked_bytes);
}

void add_table(Lines& lines, const TrainingResult& result) {
    lines.add_raw("");
    lines.add_raw(fmt::format("  {:<36} {:<11} {:^31} | {:^31}", "", "", "at the peak", "at the end"));
    lines.add_raw(fmt::format("  {:<36} {:<11} {:>5} {:>12} {:>12} | {:>5} {:>12} {:>12}", "pins by label",
                              "state", "pins", "bytes asked", "locked", "pins", "bytes asked", "locked"));
    Row total;
    for (const auto& [key, row] : rows_of(result)) {
        lines.add_raw(table_row(key.first.empty() ? "(no label)" : key.first, to_string(key.second), row));
        add_to(total.peak, row.peak);
        add_to(total.end, row.end);
    }
    lines.add_raw(table_row("all", "", total));
    lines.add_raw("");
}

void add_run(Lines& lines, const RunDescription& description, const TrainingOptions& options,
             const TextCorpus& text, const TrainingResult& result) {
    lines.add("text", fmt::format("{}: {} characters, {} different", description.text,
                                  text.characters().size(), text.vocabulary()));
    lines.add("config", fmt::format("{}: ZeRO stage {}, {}, {} parameters", description.config,
                                    options.config.zero_optimization.stage,
                                    zero::name(options.config.low_precision), result.parameter_count));
    lines.add("backend", fmt::format("{}: {}", description.backend, description.backend_reason));
    if (result.ranks > 1) {
        lines.add("ranks", fmt::format("{}, a process each; bytes and KiB below are those of all together",
                                       result.ranks));
    }
    lines.add("steps", fmt::format("{} run, {} of them skipped for overflow, {:.0f} tokens/s", result.steps,
                                   result.skipped_steps, result.tokens_per_second));
    if (result.stop_signal != 0) {
        lines.add("", fmt::format("stopped early, by signal {}, after {} of {} steps", result.stop_signal,
                                  result.steps, options.steps));
    }
    lines.add("loss", fmt::format("{:.4f} at first, {:.4f} at last, in nats per character", result.loss_first,
                                  result.loss_last));
    lines.add("unigram",
              fmt::format("{:.4f} nats per character: the entropy of single-character frequencies; the "
                          "last loss is {} it",
                          result.unigram_entropy,
                          result.loss_last < result.unigram_entropy ? "below" : "not below"));
}

void add_locked(Lines& lines, const TrainingResult& result) {
    constexpr std::size_t kib = 1024;
    const KernelLocked& locked = result.kernel_locked;
    lines.add("peak", fmt::format("{} bytes locked for pins at one time", result.peak_locked_bytes));
    lines.add("VmLck", fmt::format("{} KiB before, {} KiB at the peak, {} KiB after", locked.before / kib,
                                   locked.peak / kib, locked.after / kib));
    lines.add(
        "agreement",
        result.disagreement
            ? fmt::format("broken: the registry counted {} bytes and the kernel {} bytes",
                          result.disagreement->registry_bytes, result.disagreement->kernel_bytes)
            : fmt::format("registry and kernel agreed on every byte, {} times asked", result.observations));
}

}  // namespace

std::string audit_text(const RunDescription& description, const TrainingOptions& options,
                       const TextCorpus& text, const TrainingResult& result) {
    Lines lines;
    lines.add_raw("Audit of pinned memory");
    add_run(lines, description, options, text, result);
    add_table(lines, result);
    add_locked(lines, result);

    const auto reasons = complaints(result);
    lines.add("verdict", reasons.empty() ? "clean: nothing is live, in flight or quarantined after destroy()"
                                         : "NOT CLEAN:");
    for (const std::string& reason : reasons) lines.add("", reason);
    std::string whole = lines.take();
    if (result.ranks > 1) return whole + result.report_text;
    if (!result.final_report.records.empty()) whole += to_text(result.final_report);
    return whole;
}

}  // namespace pinwarden::command
