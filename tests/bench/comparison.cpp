// SPDX-License-Identifier: Apache-2.0
#include "comparison.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace pinwarden::bench {
namespace {

// Where nothing is compared, both are 0.
struct Medians {
    double baseline = 0.0;
    double ours = 0.0;
};

constexpr const char* baseline_suffix = "/baseline";
constexpr const char* our_suffix = "/ours";

std::vector<Goal>& goals() {
    static std::vector<Goal> all;
    return all;
}

std::string with_unit(double nanoseconds) {
    if (nanoseconds < 1e3) return fmt::format("{:.1f} ns", nanoseconds);
    if (nanoseconds < 1e6) return fmt::format("{:.2f} us", nanoseconds / 1e3);
    return fmt::format("{:.2f} ms", nanoseconds / 1e6);
}

// Keeps the medians and prints nothing but errors and a sign of life.
class MedianReporter final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }

    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.run_type != Run::RT_Aggregate || run.aggregate_name != "median") continue;
            medians_[run.run_name.function_name] = run.GetAdjustedRealTime();
            fmt::print(stderr, "  {:<60} {}\n", run.run_name.function_name, with_unit(run.GetAdjustedRealTime()));
        }
    }

    [[nodiscard]] Medians medians(const std::string& what) const {
        const auto of = [&](const char* suffix) {
            const auto found = medians_.find(what + suffix);
            return found == medians_.end() ? 0.0 : found->second;
        };
        return {of(baseline_suffix), of(our_suffix)};
    }

private:
    std::map<std::string, double> medians_;
};

std::string goal_text(const Goal& goal) {
    std::vector<std::string> parts;
    if (goal.least_ratio > 0.0) parts.push_back(fmt::format(">= {:g} times", goal.least_ratio));
    if (std::isfinite(goal.most_nanoseconds)) parts.push_back("<= " + with_unit(goal.most_nanoseconds));
    if (std::isfinite(goal.most_extra_nanoseconds))
        parts.push_back("<= " + with_unit(goal.most_extra_nanoseconds) + " more");
    return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_met(const Goal& goal, const Medians& medians) {
    return medians.baseline >= goal.least_ratio * medians.ours && medians.ours <= goal.most_nanoseconds &&
           medians.ours - medians.baseline <= goal.most_extra_nanoseconds;
}

void print_row(const Goal& goal, const Medians& medians) {
    fmt::print("{:<46} {:<34} {:>12} {:>12} {:>8.2f}  {:<26} {}\n", goal.what, goal.baseline,
               with_unit(medians.baseline), with_unit(medians.ours), medians.baseline / medians.ours,
               goal_text(goal), is_met(goal, medians) ? "met" : "missed");
}

void add(const Goal& goal, const char* suffix, int threads, Timed timed) {
    auto* const added = benchmark::RegisterBenchmark((goal.what + suffix).c_str(), std::move(timed));
    added->Repetitions(goal.repetitions)->ReportAggregatesOnly()->MinTime(0.05)->Threads(threads);
    if (goal.manual_time) {
        added->UseManualTime();
    } else {
        added->UseRealTime();
    }
}

}  // namespace

void compare(Goal goal, Timed baseline, Timed ours) {
    add(goal, baseline_suffix, 1, std::move(baseline));
    add(goal, our_suffix, goal.threads, std::move(ours));
    goals().push_back(std::move(goal));
}

int run_comparisons(int argc, char** argv) {
    std::vector<char*> arguments(argv, argv + argc);
    std::string interleave = "--benchmark_enable_random_interleaving=true";
    arguments.insert(arguments.begin() + 1, interleave.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

    MedianReporter reporter;
    benchmark::RunSpecifiedBenchmarks(&reporter);
    fmt::print("{:<46} {:<34} {:>12} {:>12} {:>8}  {:<26} {}\n", "what", "baseline", "baseline", "ours", "ratio",
               "goal", "");
    for (const Goal& goal : goals()) {
        const Medians medians = reporter.medians(goal.what);
        if (medians.baseline > 0.0 && medians.ours > 0.0) print_row(goal, medians);
    }
    benchmark::Shutdown();
    return 0;
}

}  // namespace pinwarden::bench
