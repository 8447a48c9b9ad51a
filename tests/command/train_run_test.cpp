// SPDX-License-Identifier: Apache-2.0
#include <command/pinwarden_program.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <set>

using Catch::Matchers::ContainsSubstring;
using namespace pinwarden::testing;

namespace {

nlohmann::json read_json(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return nlohmann::json::parse(stream);
}

/// A folder in which every user may write.
struct SharedFolder : TemporaryFolder {
    SharedFolder() { std::filesystem::permissions(path(), std::filesystem::perms::all); }
};

}  // namespace

TEST_CASE("The main job runs by default as an ordinary user, learns, and leaves no pin") {
    const SharedFolder folder;
    const auto run =
        run_pinwarden({"train", "--summary", (folder / "summary.json").string()}, {.ordinary_user = true});
    INFO(run.errors);
    CHECK(run.exit_status == 0);
    CHECK_THAT(run.output, ContainsSubstring("verdict    clean"));
    CHECK_THAT(run.output, ContainsSubstring("DS_PIN_MEMORY_BACKEND=native"));
    CHECK_THAT(run.output, ContainsSubstring("agreed on every byte"));
    for (const char* label :
         {"exp_avg", "exp_avg_sq", "hp_params", "lp_params", "lp_grads", "contiguous_grad_buffer"}) {
        CHECK_THAT(run.output, ContainsSubstring(label));
    }
    CHECK_THAT(run.errors, ContainsSubstring("step 1/300 ") && ContainsSubstring("step 300/300 "));
    CHECK_THAT(run.errors, ContainsSubstring("tokens/s") && ContainsSubstring("pinned"));

    const auto summary = read_json(folder / "summary.json");
    std::set<std::string> fields;
    for (const auto& [name, value] : summary.items()) fields.insert(name);
    CHECK(fields == std::set<std::string>{"backend", "live_pins", "loss_first", "loss_last",
                                          "peak_pinned_bytes", "steps", "unigram_entropy", "vmlck_kib"});
    CHECK(summary.at("steps") == 300);
    CHECK(summary.at("live_pins") == 0);
    CHECK(summary.at("backend") == "native");
    const double entropy = summary.at("unigram_entropy");
    CHECK((entropy > 2.8 && entropy < 3.4));
    CHECK(summary.at("loss_first") > entropy);
    CHECK(summary.at("loss_last") < 2.2);
    const auto& vmlck = summary.at("vmlck_kib");
    CHECK(vmlck.size() == 3);
    CHECK(vmlck.at("after") == vmlck.at("before"));
    const std::size_t peak = summary.at("peak_pinned_bytes");
    CHECK((peak > 1'000'000 && peak < std::size_t{8} * 1024 * 1024));
    CHECK(vmlck.at("peak").get<std::size_t>() - vmlck.at("before").get<std::size_t>() == peak / 1024);
}

TEST_CASE("Any file is a text: UTF-8, nulls and all bytes, a single character") {
    const TemporaryFolder folder;
    const std::string bytes = GENERATE(std::string("na\xc3\xafve caf\xc3\xa9, \xe6\x96\x87\xe5\xad\x97"),
                                       std::string("\0\0\1\0\xff\xfe\0\7 \0", 10), std::string("aaaaa"));
    std::ofstream(folder / "text", std::ios::binary) << bytes;
    const auto run = run_pinwarden(quick_training({"--text", (folder / "text").string(), "--steps", "2"}));
    INFO(run.errors);
    CHECK(run.exit_status == 0);
    CHECK(run.errors.empty());
    CHECK_THAT(run.output, ContainsSubstring("verdict    clean"));
}

TEST_CASE("The seed decides the losses, and nothing else does") {
    const TemporaryFolder folder;
    const auto losses = [&](const std::string& seed) {
        const std::string file = (folder / "summary").string();
        CHECK(
            run_pinwarden(quick_training({"--steps", "3", "--seed", seed, "--summary", file})).exit_status ==
            0);
        const auto summary = read_json(file);
        return std::pair(summary.at("loss_first").get<double>(), summary.at("loss_last").get<double>());
    };
    const auto first = losses("7");
    CHECK(losses("7") == first);
    CHECK(losses("8") != first);
}

TEST_CASE("A signal ends the run after the step, with engine destroyed, audit printed and summary written") {
    const TemporaryFolder folder;
    const int signal = GENERATE(SIGINT, SIGTERM);
    const auto run = run_pinwarden(
        {"train", "--steps", "1000000", "--hidden", "16", "--summary", (folder / "summary").string()},
        {.on_first_error_line = [&](::pid_t child, const std::string&) { ::kill(child, signal); }});
    CHECK(run.exit_status == 128 + signal);
    CHECK_THAT(run.output, ContainsSubstring("stopped early") && ContainsSubstring("verdict    clean"));
    const auto summary = read_json(folder / "summary");
    CHECK(summary.at("live_pins") == 0);
    CHECK(summary.at("steps") < 1'000'000);
    CHECK(summary.at("peak_pinned_bytes") > 0);
}

TEST_CASE("A summary that goes to the standard output follows the audit") {
    const TemporaryFolder folder;
    const auto to_pipe = run_pinwarden(quick_training({"--steps", "1", "--summary", "/dev/stdout"}));
    CHECK(to_pipe.exit_status == 0);
    CHECK_THAT(to_pipe.output, ContainsSubstring("verdict    clean"));
    CHECK(nlohmann::json::parse(to_pipe.output.substr(to_pipe.output.find("\n{") + 1)).at("steps") == 1);

    const std::string file = (folder / "output").string();
    CHECK(run_pinwarden(quick_training({"--steps", "1", "--summary", "/dev/stdout"}), {.output = file})
              .exit_status == 0);
    std::ifstream stream(file);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    CHECK_THAT(content, ContainsSubstring("verdict    clean") && ContainsSubstring("\"steps\": 1"));
}

TEST_CASE("The built-in configuration can be printed, edited and used") {
    const TemporaryFolder folder;
    const auto printed = run_pinwarden({"train", "--print-config"});
    CHECK(printed.exit_status == 0);
    CHECK(printed.errors.empty());
    auto config = nlohmann::json::parse(printed.output);
    config["zero_optimization"]["stage"] = 1;
    std::ofstream(folder / "mine.json") << config;
    const auto run =
        run_pinwarden(quick_training({"--config", (folder / "mine.json").string(), "--steps", "2"}));
    CHECK(run.exit_status == 0);
    CHECK_THAT(run.output, ContainsSubstring("ZeRO stage 1, bf16"));
}
