// SPDX-License-Identifier: Apache-2.0
#include <command/pinwarden_program.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

// `pinwarden train` under mpirun.

using Catch::Matchers::ContainsSubstring;
using namespace pinwarden::testing;

namespace {

// As root, and with more ranks than cores, which mpirun refuses unless it is told; ranks that wait give way.
const std::map<std::string, std::string> launcher_environment{
    {"DS_PIN_MEMORY_BACKEND", "native"},     {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
    {"OMPI_MCA_mpi_yield_when_idle", "1"},   {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};

std::string write_config(const TemporaryFolder& folder, const nlohmann::json& zero) {
    const nlohmann::json config{{"train_batch_size", 32},
                                {"train_micro_batch_size_per_gpu", 8},
                                {"bf16", {{"enabled", true}}},
                                {"optimizer", {{"type", "AdamW"}, {"params", {{"lr", 3e-3}}}}},
                                {"zero_optimization", zero}};
    std::string file = (folder / "config.json").string();
    std::ofstream(file) << config.dump();
    return file;
}

ProgramRun mpirun(std::size_t ranks, const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"-n", std::to_string(ranks), PINWARDEN_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(PINWARDEN_MPIRUN, all, {.environment = launcher_environment});
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE(
    "Four ranks train on every stage to the losses of one, and print one audit with the rank of each pin", "[mpi]") {
    const TemporaryFolder folder;
    const std::string summary = (folder / "summary.json").string();
    const std::vector<nlohmann::json> stages{
        {{"stage", 1}},
        {{"stage", 2}},
        {{"stage", 3}, {"sub_group_size", 500}},
        {{"stage", 3},
         {"sub_group_size", 500},
         {"zero_hpz_partition_size", 2},
         {"offload_optimizer", {{"device", "cpu"}, {"pin_memory", true}}},
         {"offload_param", {{"device", "cpu"}, {"pin_memory", true}}}}};
    for (const auto& stage : stages) {
        INFO(stage.dump());
        auto alone = stage;
        alone.erase("zero_hpz_partition_size");
        const auto arguments = [&](const nlohmann::json& zero) {
            return quick_training(
                {"--config", write_config(folder, zero), "--steps", "12", "--summary", summary});
        };
        REQUIRE(run_pinwarden(arguments(alone)).exit_status == 0);
        const auto expected = nlohmann::json::parse(std::ifstream(summary));
        const auto run = mpirun(4, arguments(stage));
        INFO(run.errors);
        INFO(run.output);
        REQUIRE(run.exit_status == 0);
        const auto found = nlohmann::json::parse(std::ifstream(summary));
        CHECK(found.at("loss_first") == expected.at("loss_first"));
        CHECK(found.at("loss_last") == expected.at("loss_last"));
        CHECK(found.at("live_pins") == 0);
        CHECK(count_of(run.output, "Audit of pinned memory") == 1);
        CHECK(count_of(run.output, "verdict    clean") == 1);
        CHECK_THAT(run.output, ContainsSubstring("ranks      4, a process each"));
        for (const char* const rank : {"rank 0: ", "rank 1: ", "rank 2: ", "rank 3: "})
            CHECK_THAT(run.output, ContainsSubstring(std::string(rank) + "exp_avg/"));
    }
}

TEST_CASE("Two ranks train to nearly the losses of one, and only the first of them shows progress", "[mpi]") {
    const TemporaryFolder folder;
    const std::string summary = (folder / "summary.json").string();
    const std::vector<std::string> arguments{"train",
                                             "--context",
                                             "4",
                                             "--hidden",
                                             "16",
                                             "--config",
                                             write_config(folder, {{"stage", 3}}),
                                             "--steps",
                                             "12",
                                             "--summary",
                                             summary};
    REQUIRE(run_pinwarden(arguments).exit_status == 0);
    const double expected = nlohmann::json::parse(std::ifstream(summary)).at("loss_last");
    const auto run = mpirun(2, arguments);
    INFO(run.errors);
    REQUIRE(run.exit_status == 0);
    const double found = nlohmann::json::parse(std::ifstream(summary)).at("loss_last");
    CHECK(std::abs(found - expected) < 0.02 * expected);
    CHECK(count_of(run.errors, "step 12/12 ") == 1);
}

TEST_CASE("An error on one rank ends all of them, with its text and a status that says so", "[mpi]") {
    const TemporaryFolder folder;
    const std::string config = write_config(folder, {{"stage", 2}});
    const std::vector<std::string> one{"-n", "1", PINWARDEN_PROGRAM, "train", "--quiet", "--config", config};
    std::vector<std::string> arguments = one;
    for (const char* const word : {":", "-n", "1", "-x", "DS_PIN_MEMORY_BACKEND=floppy"})
        arguments.emplace_back(word);
    arguments.insert(arguments.end(), one.begin() + 2, one.end());
    auto environment = launcher_environment;
    const auto run = run_program(PINWARDEN_MPIRUN, arguments, {.environment = environment});
    INFO(run.output);
    INFO(run.errors);
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.errors, ContainsSubstring("pinwarden train: error: rank 1 of 2: "));
    CHECK_THAT(run.errors, ContainsSubstring("floppy"));
    CHECK(count_of(run.output, "verdict") == 0);
}

TEST_CASE("A batch that the ranks cannot share is refused", "[mpi]") {
    const TemporaryFolder folder;
    const auto run =
        mpirun(3, quick_training({"--config", write_config(folder, {{"stage", 2}}), "--steps", "2"}));
    INFO(run.errors);
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.errors, ContainsSubstring("train_batch_size: found 32, which is not a multiple of"));
}
