// SPDX-License-Identifier: Apache-2.0
#include <command/train/audit_text.hpp>
#include <command/train/default_config.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <utility>

using namespace pinwarden;
using namespace pinwarden::command;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;

namespace {

const RunDescription description = {
    .config = "my.json", .text = "novel.txt", .backend = "native", .backend_reason = "nobody said otherwise"};

audit::PinRecord record(std::string label, std::size_t bytes, std::size_t locked, audit::PinState state) {
    audit::PinRecord result;
    result.bytes = bytes;
    result.locked_bytes = locked;
    result.state = state;
    result.label = std::move(label);
    return result;
}

TrainingResult some_result() {
    TrainingResult result{.steps = 20,
                          .skipped_steps = 3,
                          .loss_first = 4.25,
                          .loss_last = 1.5,
                          .unigram_entropy = 3.125,
                          .parameter_count = 1234,
                          .kernel_locked = {.before = 4096, .peak = 16384, .after = 4096},
                          .peak_locked_bytes = 12288,
                          .observations = 25};
    result.records_at_peak = {record("hp_params", 100, 4096, audit::PinState::live),
                              record("hp_params", 50, 4096, audit::PinState::live),
                              record("lp_params", 25, 4096, audit::PinState::in_flight)};
    return result;
}

std::string text_of(const TrainingResult& result) {
    const TrainingOptions options{
        .config = zero::read_config_text(default_config_text, default_config_origin),
        .shape = {},
        .steps = 20};
    return audit_text(description, options, TextCorpus("banana", "here"), result);
}

}  // namespace

TEST_CASE("The audit says what ran, why that backend, and what the losses are measured against") {
    const std::string text = text_of(some_result());
    CHECK_THAT(text, ContainsSubstring("novel.txt: 6 characters, 3 different"));
    CHECK_THAT(text, ContainsSubstring("my.json: ZeRO stage 2, bf16, 1234 parameters"));
    CHECK_THAT(text, ContainsSubstring("native: nobody said otherwise"));
    CHECK_THAT(text, ContainsSubstring("20 run, 3 of them skipped"));
    CHECK_THAT(text, ContainsSubstring("4.2500 at first, 1.5000 at last"));
    CHECK_THAT(text, ContainsSubstring("3.1250 nats per character"));
    CHECK_THAT(text, ContainsSubstring("the last loss is below it"));
}

TEST_CASE("The table has a row per label and state, with the pins at the peak and at the end") {
    const std::string text = text_of(some_result());
    CHECK_THAT(text, Matches(R"([\s\S]*\n  hp_params +live +2 +150 +8192 \| +0 +0 +0\n[\s\S]*)"));
    CHECK_THAT(text, Matches(R"([\s\S]*\n  lp_params +in_flight +1 +25 +4096 \| +0 +0 +0\n[\s\S]*)"));
    CHECK_THAT(text, Matches(R"([\s\S]*\n  all +3 +175 +12288 \| +0 +0 +0\n[\s\S]*)"));
}

TEST_CASE("A clean audit gives the kernel's numbers, the agreement and the verdict") {
    const std::string text = text_of(some_result());
    CHECK_THAT(text, ContainsSubstring("12288 bytes locked for pins at one time"));
    CHECK_THAT(text, ContainsSubstring("4 KiB before, 16 KiB at the peak, 4 KiB after"));
    CHECK_THAT(text, ContainsSubstring("agreed on every byte, 25 times asked"));
    CHECK_THAT(text, ContainsSubstring("verdict    clean"));
    CHECK(text.find("NOT CLEAN") == std::string::npos);
}

TEST_CASE("An audit that is not clean says so, why, and lists each pin that is left") {
    TrainingResult result = some_result();
    result.stop_signal = SIGINT;
    result.loss_last = 5.0;
    result.final_report.counts.live = {1, 100, 4096};
    result.final_report.records = {record("hp_params", 100, 4096, audit::PinState::live)};
    result.disagreement = Disagreement{.registry_bytes = 4096, .kernel_bytes = 8192};
    const std::string text = text_of(result);
    CHECK_THAT(text, ContainsSubstring("the last loss is not below it"));
    CHECK_THAT(text, ContainsSubstring("stopped early, by signal 2, after 20 of 20 steps"));
    CHECK_THAT(text, Matches(R"([\s\S]*\n  hp_params +live +2 +150 +8192 \| +1 +100 +4096\n[\s\S]*)"));
    CHECK_THAT(text, ContainsSubstring("the registry counted 4096 bytes and the kernel 8192 bytes"));
    CHECK_THAT(text, ContainsSubstring("NOT CLEAN"));
    CHECK_THAT(text, ContainsSubstring("1 pin with 4096 bytes (4.0 KiB) still live"));
    CHECK_THAT(text, ContainsSubstring(to_text(result.final_report)));
}
