// SPDX-License-Identifier: Apache-2.0
#include <command/pinwarden_program.hpp>
#include <report/report_format.hpp>
#include <support/stored_reports.hpp>
#include <support/temporary_folder.hpp>
#include <support/xml.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

using Catch::Matchers::ContainsSubstring;
using pinwarden::audit::StoredReport;
using pinwarden::testing::add_pin;
using pinwarden::testing::live_pin;
using pinwarden::testing::run_pinwarden;
using pinwarden::testing::TemporaryFolder;

namespace {

using Json = nlohmann::json;

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Stores a report of `process` with a live pin for each label, and answers the file's name.
std::string store(const TemporaryFolder& folder, const std::string& process,
                  const std::vector<std::string>& labels) {
    StoredReport report{.process = process};
    for (const std::string& label : labels) add_pin(report, live_pin(label));
    const auto file = folder / (process + ".json");
    write_file(file, pinwarden::audit::write_json(report));
    return file.string();
}

void check_one_line_of_error(const pinwarden::testing::ProgramRun& run, const std::string& text) {
    CHECK(run.exit_status == 2);
    CHECK(run.output.empty());
    CHECK_THAT(run.errors, ContainsSubstring(text));
    CHECK(std::count(run.errors.begin(), run.errors.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("Reports of several ranks are joined into one that can be joined, shown and compared again") {
    const TemporaryFolder folder;
    const auto joined = (folder / "all.json").string();
    const auto merge = run_pinwarden({"report", "merge", store(folder, "rank 0", {"weights"}),
                                      store(folder, "rank 1", {"weights", "gradients"}), "--output", joined});
    CHECK(merge.exit_status == 1);  // pins are live
    CHECK(merge.output.empty());
    CHECK(merge.errors.empty());
    const Json document = Json::parse(content(joined));
    CHECK(document.at("processes").size() == 2);
    CHECK(document.at("pins").size() == 3);

    const auto show = run_pinwarden({"report", "show", joined});
    CHECK(show.exit_status == 1);
    CHECK_THAT(show.output, ContainsSubstring("2 processes: 3 live and 0 in flight\n") &&
                                ContainsSubstring("process 'rank 1': 2 live") &&
                                ContainsSubstring("live 'gradients' of 4000 bytes"));

    const auto again = run_pinwarden({"report", "merge", joined, store(folder, "rank 2", {})});
    CHECK(Json::parse(again.output).at("processes").size() == 3);
    CHECK(run_pinwarden({"report", "diff", joined, joined}).exit_status == 0);
}

TEST_CASE("A report is shown in the format asked for, or in that of the output's ending") {
    const TemporaryFolder folder;
    const auto file = store(folder, "1@a", {"weights"});
    CHECK_THAT(run_pinwarden({"report", "show", file}).output, ContainsSubstring("live 'weights'"));
    CHECK(Json::parse(run_pinwarden({"report", "show", file, "--format", "json"}).output) ==
          Json::parse(content(file)));
    const auto junit = run_pinwarden({"report", "show", file, "--format", "junit"});
    CHECK(pinwarden::testing::parse_xml(junit.output).all("failure").size() == 1);
    const auto sarif = run_pinwarden({"report", "show", file, "--format", "sarif", "--source-root", "/src/"});
    const Json artifact = Json::parse(sarif.output)
                              .at("runs").at(0).at("results").at(0).at("locations").at(0)
                              .at("physicalLocation").at("artifactLocation");
    CHECK(artifact == Json({{"uri", "engine.cpp"}, {"uriBaseId", "%SRCROOT%"}}));
    const auto output = folder / "leaks.sarif";
    CHECK(run_pinwarden({"report", "show", file, "--output", output.string()}).output.empty());
    CHECK(Json::parse(content(output)).at("version") == "2.1.0");
    CHECK(run_pinwarden({"report", "show", store(folder, "2@a", {})}).exit_status == 0);
}

TEST_CASE("The difference of two runs fails for what is new or grown only") {
    const TemporaryFolder folder;
    const auto before = store(folder, "before", {"a", "b"});
    const auto after = store(folder, "after", {"b", "b", "c"});
    const auto worse = run_pinwarden({"report", "diff", before, after});
    CHECK(worse.exit_status == 1);
    CHECK_THAT(worse.output, ContainsSubstring("1 new, 1 grown, 0 shrunk, 1 gone") && ContainsSubstring("live 'c'"));
    const auto json = run_pinwarden({"report", "diff", before, after, "--format", "json"});
    CHECK(json.exit_status == 1);
    CHECK(Json::parse(json.output).at("changes").size() == 3);
    const auto better = run_pinwarden({"report", "diff", before, store(folder, "better", {"a"})});
    CHECK(better.exit_status == 0);
    CHECK_THAT(better.output, ContainsSubstring("gone"));
}

TEST_CASE("What is no report is refused by each of them in one line that says what, where and what to do") {
    const TemporaryFolder folder;
    const auto good = store(folder, "good", {"a"});
    const auto bad = (folder / "bad.json").string();
    const auto [text, problem] = GENERATE_COPY(table<std::string, std::string>({
        {"", "it is empty"},
        {content(good).substr(0, 300), "it ends too early, at line"},
        {"live: 1\n", "it is no JSON from line 1, byte 1 on"},
        {"{\"schema\": \"other\"}", "'schema' is \"other\""},
        {"{\"schema\": \"pinwarden-leak-report\", \"version\": 9}", "of version 9, and this program reads version 2"},
    }));
    write_file(bad, text);
    const auto show = run_pinwarden({"report", "show", bad});
    check_one_line_of_error(show, problem);
    CHECK_THAT(show.errors, ContainsSubstring("pinwarden report show: error: ") && ContainsSubstring(bad));
    check_one_line_of_error(run_pinwarden({"report", "merge", good, bad}), problem);
    check_one_line_of_error(run_pinwarden({"report", "diff", bad, good}), problem);
    check_one_line_of_error(run_pinwarden({"report", "diff", good, bad}), problem);
}

TEST_CASE("A refused merge leaves the output as it was") {
    const TemporaryFolder folder;
    const auto output = folder / "all.json";
    write_file(output, "old");
    const auto good = store(folder, "good", {"a"});
    check_one_line_of_error(
        run_pinwarden({"report", "merge", good, good, "--output", output.string()}), "both reports of the process");
    check_one_line_of_error(
        run_pinwarden({"report", "merge", (folder / "none.json").string(), "--output", output.string()}),
        "none.json': open: No such file or directory");
    CHECK(content(output) == "old");
}

TEST_CASE("A wrong command line of a report says which and what there is") {
    const auto arguments = GENERATE(
        std::vector<std::string>{"report"}, std::vector<std::string>{"report", "fly"},
        std::vector<std::string>{"report", "show"}, std::vector<std::string>{"report", "show", "a", "b"},
        std::vector<std::string>{"report", "merge"}, std::vector<std::string>{"report", "diff", "a"},
        std::vector<std::string>{"report", "diff", "a", "b", "--format", "sarif"},
        std::vector<std::string>{"report", "show", "a", "--format", "pdf"});
    check_one_line_of_error(run_pinwarden(arguments), "--help`");
}

TEST_CASE("The help of report lists what it does, and each of them its options") {
    CHECK_THAT(run_pinwarden({"report", "--help"}).output,
               ContainsSubstring("merge") && ContainsSubstring("show") && ContainsSubstring("diff"));
    const auto help = run_pinwarden({"report", "merge", "--help"});
    CHECK(help.exit_status == 0);
    CHECK_THAT(help.output, ContainsSubstring("pinwarden report merge") && ContainsSubstring("--output"));
}
