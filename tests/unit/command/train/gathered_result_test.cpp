// SPDX-License-Identifier: Apache-2.0
#include "command/train/gathered_result.hpp"

#include <pinwarden/zero/thread_ranks.hpp>

#include <support/rank_check.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cstddef>
#include <string>

using namespace pinwarden;
using namespace pinwarden::command;
using pinwarden::testing::ensure;

namespace {

TrainingResult result_of(std::size_t rank) {
    TrainingResult result;
    result.steps = 7;
    result.kernel_locked = {.before = 1 + rank, .peak = 100 + rank, .after = 1 + rank};
    result.peak_locked_bytes = 4096 * (rank + 1);
    result.observations = 5;
    result.ranks = 3;
    audit::PinRecord record;
    record.label = "exp_avg/matrices";
    record.bytes = 10 + rank;
    record.locked_bytes = 4096;
    result.records_at_peak = {record};
    if (rank == 2) {
        result.final_report.records = {record};
        result.destroy_error = "one pin is live";
        result.disagreement = Disagreement{.registry_bytes = 8, .kernel_bytes = 9};
    }
    return result;
}

}  // namespace

TEST_CASE("The results of ranks are added up, and each pin carries its rank") {
    zero::run_ranks(3, [](const zero::CommunicatorPtr& ranks) {
        const auto all = gather_results(result_of(ranks->rank()), *ranks);
        ensure(all.steps == 7);
        ensure(all.kernel_locked.before == 6 && all.kernel_locked.peak == 303 && all.kernel_locked.after == 6);
        ensure(all.peak_locked_bytes == 6 * 4096);
        ensure(all.observations == 15);
        ensure(all.records_at_peak.size() == 3);
        ensure(all.records_at_peak[1].label == "rank 1: exp_avg/matrices");
        ensure(all.records_at_peak[1].bytes == 11);
        ensure(all.final_report.counts.live.pins == 1);
        ensure(all.final_report.records[0].label == "rank 2: exp_avg/matrices");
        ensure(all.destroy_error == "rank 2: one pin is live");
        ensure(all.disagreement && all.disagreement->kernel_bytes == 9);
        ensure(all.report_text.starts_with("rank 2\n"));
        ensure(!complaints(all).empty());
    });
}

TEST_CASE("The result of a single rank stays as it is") {
    const auto all = gather_results(result_of(2), *zero::single_rank());
    REQUIRE(all.records_at_peak[0].label == "exp_avg/matrices");
    REQUIRE(all.destroy_error == "one pin is live");
    REQUIRE(all.report_text.empty());
}
