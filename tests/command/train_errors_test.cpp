// SPDX-License-Identifier: Apache-2.0
#include <command/pinwarden_program.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <fstream>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace pinwarden::testing;

namespace {

/// Checks that the run could not do what it was asked to, and said so in one line with all of `parts` in it.
void check_refused(const ProgramRun& run, const std::vector<std::string>& parts) {
    INFO(run.errors);
    CHECK(run.exit_status == 2);
    CHECK(run.output.empty());
    CHECK_THAT(run.errors, StartsWith("pinwarden train: error: "));
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
    for (const std::string& part : parts) CHECK_THAT(run.errors, ContainsSubstring(part));
}

}  // namespace

TEST_CASE("A number that is none, or out of range, is refused by the option's name") {
    const std::string option = GENERATE("--steps", "--context", "--embedding", "--hidden", "--layers");
    const std::string value = GENERATE("0", "-1", "ten", "1e3", "99999999999999999999");
    check_refused(run_pinwarden({"train", option + "=" + value}), {option, "'" + value + "'", "from 1 to "});
}

TEST_CASE("A text that cannot be used is refused with its name and the reason") {
    const TemporaryFolder folder;
    const auto with_text = [&](const std::string& name) {
        return run_pinwarden(quick_training({"--steps", "1", "--text", (folder / name).string()}));
    };
    check_refused(with_text("missing"), {(folder / "missing").string(), "No such file or directory"});
    check_refused(with_text(""), {folder.path().string(), "Is a directory"});
    std::ofstream(folder / "empty");
    check_refused(with_text("empty"), {(folder / "empty").string(), "is empty"});
    std::ofstream(folder / "short") << "abcd";
    check_refused(with_text("short"), {(folder / "short").string(), "too short", "4 bytes", "at least 5"});
}

TEST_CASE("A text that the user may not read is refused") {
    const TemporaryFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
    std::ofstream(folder / "secret") << "some text";
    std::filesystem::permissions(folder / "secret", std::filesystem::perms::none);
    const auto run = run_pinwarden(quick_training({"--steps", "1", "--text", (folder / "secret").string()}),
                                   {.ordinary_user = true});
    check_refused(run, {(folder / "secret").string(), "Permission denied"});
}

TEST_CASE("A configuration that is missing or wrong is refused with its name") {
    const TemporaryFolder folder;
    const auto with_config = [&](const std::string& text) {
        std::ofstream(folder / "config.json") << text;
        return run_pinwarden(quick_training({"--steps", "1", "--config", (folder / "config.json").string()}));
    };
    check_refused(run_pinwarden({"train", "--config", (folder / "missing.json").string()}), {"missing.json"});
    check_refused(run_pinwarden({"train", "--config", folder.path().string()}), {folder.path().string()});
    check_refused(with_config(""), {"config.json"});
    check_refused(with_config("{"), {"config.json"});
    check_refused(
        with_config(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimisation": {}})"),
        {"config.json", "zero_optimisation", "zero_optimization"});
    check_refused(with_config(R"({"train_batch_size": 8, "bf16": {"enabled": true},
                                  "optimizer": {"type": "AdamW", "params": {"lr": 0.001}},
                                  "zero_optimization": {"stage": 2, "backend": "native"}})"),
                  {"config.json", "backend", "DS_PIN_MEMORY_BACKEND"});
}

TEST_CASE("A backend that does not exist, or not here, is refused and never replaced") {
    check_refused(run_pinwarden(quick_training({"--steps", "1"}),
                                {.environment = {{"DS_PIN_MEMORY_BACKEND", "bogus"}}}),
                  {"DS_PIN_MEMORY_BACKEND", "bogus", "native", "cuda"});
}

TEST_CASE("The CUDA backend is used where it can be had, and otherwise refused") {
    const std::string value = GENERATE("cuda", "torch");
    const auto run =
        run_pinwarden(quick_training({"--steps", "1"}), {.environment = {{"DS_PIN_MEMORY_BACKEND", value}}});
    if (run.exit_status == 0) {
        CHECK_THAT(run.output, ContainsSubstring("cuda: DS_PIN_MEMORY_BACKEND=" + value));
    } else {
        check_refused(run, {"DS_PIN_MEMORY_BACKEND=" + value, "native"});
    }
}

TEST_CASE("A lock limit that is too small is refused with what was asked, what is allowed and what to do") {
    const auto run = run_pinwarden(quick_training({"--steps", "1"}), {.lock_limit = 4096});
    check_refused(run, {"RLIMIT_MEMLOCK", "4096"});
}

TEST_CASE("A summary that cannot be written is refused before the training") {
    const TemporaryFolder folder;
    const auto with_summary = [&](const std::string& name, const ProgramCircumstances& circumstances = {}) {
        return run_pinwarden({"train", "--steps", "1000000", "--summary", (folder / name).string()},
                             circumstances);
    };
    check_refused(with_summary("missing/summary"), {"missing/summary", "No such file or directory"});
    check_refused(with_summary(""), {folder.path().string(), "Is a directory"});
    check_refused(run_pinwarden({"train", "--summary", ""}), {"the summary", "No such file or directory"});
    check_refused(with_summary("summary", {.file_size_limit = 100}), {"the summary", "File too large"});
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0555});
    check_refused(with_summary("summary", {.ordinary_user = true}), {"the summary", "Permission denied"});
    std::filesystem::permissions(folder.path(), std::filesystem::perms{0700});
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE(
    "A summary for which the disk has no room at the end is an error, and the audit is printed all the "
    "same") {
    const auto run = run_pinwarden(quick_training({"--steps", "1", "--summary", "/dev/full"}));
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.output, ContainsSubstring("verdict    clean"));
    CHECK_THAT(run.errors, ContainsSubstring("/dev/full") && ContainsSubstring("No space left on device"));
}
