// SPDX-License-Identifier: Apache-2.0
#include <command/scan_project.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <map>
#include <string>

using namespace pinwarden::testing;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A copy of the program beside an analyser that fails in the way that a file's name says, and works for all others.
class MoodyProgram {
public:
    MoodyProgram() {
        fs::copy_file(PINWARDEN_PROGRAM, folder_ / "pinwarden");
        const fs::path analyser = folder_ / "pinwarden-scan-file";
        std::ofstream(analyser) << "#!/bin/sh\n"
                                   "request=$(cat)\n"
                                   "case $request in\n"
                                   "    *crash.c*) kill -SEGV $$ ;;\n"
                                   "    *babble.c*) echo nonsense; exit 0 ;;\n"
                                   "    *refuse.c*) echo 'no such luck' >&2; exit 3 ;;\n"
                                   "    *hang.c*) exec sleep 600 ;;\n"
                                   "esac\n"
                                   "printf '%s' \"$request\" | "
                                << (fs::path(PINWARDEN_PROGRAM).parent_path() / "pinwarden-scan-file").string() << "\n";
        fs::permissions(analyser, fs::perms::owner_all);
    }

    [[nodiscard]] ProgramRun scan(const ScanProject& project, const std::vector<std::string>& more) const {
        std::vector<std::string> arguments = {"scan", "--cuda-path", "none", project.path()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_program(folder_ / "pinwarden", arguments, {});
    }

private:
    TemporaryFolder folder_;
};

std::map<std::string, json> files_by_name(const json& report) {
    std::map<std::string, json> files;
    for (const json& file : report.at("files"))
        files[fs::path(file.at("file").get<std::string>()).filename().string()] = file;
    return files;
}

/// A source whose one list has 2^28 elements by the time its macros are expanded.
std::string memory_bomb() {
    std::string text = "int mlock(const void *p, unsigned long n);\n#define A0 1,\n";
    for (int level = 1; level <= 28; ++level) {
        const std::string before = "A" + std::to_string(level - 1);
        text += "#define A" + std::to_string(level) + " " + before + " " + before + "\n";
    }
    return text + "int table[] = {A28};\n";
}

}  // namespace

TEST_CASE("A file whose analysis crashes, refuses, babbles or hangs is a line of the report, and the others count") {
    const MoodyProgram program;
    const ScanProject project;
    for (const char* name : {"crash.c", "refuse.c", "babble.c", "hang.c"}) project.write(name, clean_source);
    project.write("keep.c", leaking_source);
    const auto run = program.scan(project, {"--timeout", "2", "--format", "json"});
    CHECK(run.exit_status == 1);
    const json report = json::parse(run.output);
    CHECK(report.at("findings").size() == 1);
    CHECK(report.at("summary").at("crashed") == 4);
    auto files = files_by_name(report);
    CHECK(files["crash.c"].at("state") == "crashed");
    CHECK_THAT(files["crash.c"].at("detail").get<std::string>(), ContainsSubstring("signal 11"));
    CHECK_THAT(files["refuse.c"].at("detail").get<std::string>(), ContainsSubstring("3: no such luck"));
    CHECK_THAT(files["babble.c"].at("detail").get<std::string>(), ContainsSubstring("cannot be read"));
    CHECK(files["hang.c"].at("state") == "timed out");
    CHECK(files["keep.c"].at("state") == "scanned");
}

TEST_CASE("Where no file at all could be analysed the exit status is 2, and the report says why") {
    const MoodyProgram program;
    const ScanProject project;
    project.write("crash.c", clean_source);
    const auto run = program.scan(project, {});
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.output, ContainsSubstring("crash.c: error: crashed: the analysis ended by signal 11"));
}

TEST_CASE("A file that takes more memory than allowed ends its own analysis only") {
    const ScanProject project;
    project.write("bomb.c", memory_bomb());
    project.write("keep.c", leaking_source);
    const json report = project.report({"--memory", "300"});
    CHECK(report.at("findings").size() == 1);
    auto files = files_by_name(report);
    CHECK(files["bomb.c"].at("state") == "out of memory");
    CHECK(files["keep.c"].at("state") == "scanned");
}

TEST_CASE("A program without its analyser says what to install") {
    const TemporaryFolder folder;
    fs::copy_file(PINWARDEN_PROGRAM, folder / "pinwarden");
    const auto run = run_program(folder / "pinwarden", {"scan", "/"}, {});
    CHECK(run.exit_status == 2);
    CHECK_THAT(run.errors, ContainsSubstring("libclang-cpp19-dev"));
}
