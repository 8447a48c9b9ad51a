// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/project_file.hpp"

#include <pinwarden/core/error.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>
#include <string>
#include <utility>

using namespace pinwarden::scan;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

struct File {
    pinwarden::testing::TemporaryFolder folder;
    explicit File(const std::string& text) { std::ofstream(folder / project_file_name) << text; }
    [[nodiscard]] ProjectFile read() const { return read_project_file(folder / project_file_name); }
};

}  // namespace

TEST_CASE("The calls of a project are added with all their properties") {
    const File file("apis:\n"
                    "  - {name: acme::pin, kind: pin-out, family: acme, argument: 1, size-argument: 2,\n"
                    "     success: non-zero, flag-argument: 3, flag-mask: 0x10}\n"
                    "  - name: acme::unpin\n"
                    "    kind: release\n"
                    "    family: acme\n"
                    "    by-range: yes\n"
                    "  - {name: acme_get, kind: pin-return, family: acme}\n");
    const ProjectFile project = file.read();
    REQUIRE(project.apis.size() == 3);
    CHECK(project.apis[0].name == "acme::pin");
    CHECK(project.apis[0].kind == ApiKind::pin_out);
    CHECK(project.apis[0].argument == 1);
    CHECK(project.apis[0].size_argument == 2);
    CHECK(project.apis[0].flag_mask == 16);
    CHECK(project.apis[0].success == Success::non_zero);
    CHECK(project.apis[1].by_range);
    CHECK(project.apis[2].argument == -1);
    CHECK(project.apis[2].success == Success::non_null);
}

TEST_CASE("Paths to skip are files, folders and patterns, relative to the file") {
    const File file("skip: [third_party, src/old.c, '*_generated.cpp']\nallow-pins-in: [src/backend]\n");
    const ProjectFile project = file.read();
    CHECK(project.skips(file.folder / "third_party/x/y.c"));
    CHECK(project.skips(file.folder / "src/old.c"));
    CHECK(project.skips(file.folder / "deep/down/api_generated.cpp"));
    CHECK_FALSE(project.skips(file.folder / "src/new.c"));
    CHECK_FALSE(project.skips(file.folder / "third_party2/x.c"));
    CHECK_FALSE(project.skips("/elsewhere/third_party/x.c"));
    CHECK(project.allowed_folders == std::vector<std::string>{(file.folder / "src/backend").string()});
}

TEST_CASE("A rule is off, or only its certain findings count, below the folder of the file") {
    const File file("rules: {leak-on-throw: off, leak: certain, double-pin: all}\nrequire-handles: true\n");
    const ProjectFile project = file.read();
    CHECK(project.require_handles);
    const auto wanted = [&](const char* rule, Confidence confidence, const std::string& path) {
        Finding finding;
        finding.rule = rule;
        finding.confidence = confidence;
        finding.location = {path, 1, 1};
        return project.wants(finding);
    };
    const std::string inside = (file.folder / "a.c").string();
    CHECK_FALSE(wanted("leak-on-throw", Confidence::certain, inside));
    CHECK(wanted("leak-on-throw", Confidence::certain, "/elsewhere/a.c"));
    CHECK(wanted("leak", Confidence::certain, inside));
    CHECK_FALSE(wanted("leak", Confidence::likely, inside));
    CHECK(wanted("double-pin", Confidence::likely, inside));
    CHECK(wanted("double-release", Confidence::likely, inside));
}

TEST_CASE("An empty file says nothing") {
    const ProjectFile project = File("# nothing\n").read();
    CHECK(project.apis.empty());
    CHECK_FALSE(project.require_handles);
}

TEST_CASE("What is wrong in the file is named with line and column") {
    const auto [text, place, problem] = GENERATE(table<std::string, std::string, std::string>({
        {"skip: [a\n", ":2:1: ", ""},
        {"- a\n", ":1:1: ", "must be a map"},
        {"skips: []\n", ":1:1: ", "'skips' is unknown"},
        {"skip: a\n", ":1:7: ", "must be a list"},
        {"skip: [[a]]\n", ":1:8: ", "must be a word"},
        {"skip: []\nskip: []\n", ":2:1: ", "stands here twice"},
        {"require-handles: 3\n", ":1:18: ", "true or false"},
        {"rules: {leek: off}\n", ":1:9: ", "no rule 'leek'"},
        {"rules:\n  leak: of\n", ":2:9: ", "all, certain or off"},
        {"apis: {}\n", ":1:7: ", "list of calls"},
        {"apis:\n  - name: x\n", ":2:5: ", "no 'kind'"},
        {"apis:\n  - {name: x, kind: pin}\n", ":2:5: ", "is no kind of call"},
        {"apis:\n  - {name: x, kind: release}\n", ":2:5: ", "no 'family'"},
        {"apis:\n  - {name: x, kind: release, family: f, size: 1}\n", ":2:41: ", "no property of a call"},
        {"apis:\n  - {name: x, kind: release, family: f, argument: one}\n", ":2:51: ", "whole number"},
        {"apis:\n  - {name: x, kind: pin-out, family: f}\n", ":2:5: ", "no call of that family releases"},
    }));
    CAPTURE(text);
    const File file(text);
    CHECK_THROWS_MATCHES(file.read(), pinwarden::ConfigurationError,
                         MessageMatches(ContainsSubstring(".pinwarden.yaml" + place) && ContainsSubstring(problem)));
}

TEST_CASE("The nearest file above a path holds for it, and none from outside its repository") {
    const pinwarden::testing::TemporaryFolder tree;
    namespace fs = std::filesystem;
    fs::create_directories(tree / "repository/.git");
    fs::create_directories(tree / "repository/lib/src");
    fs::create_directories(tree / "repository/app");
    std::ofstream(tree / project_file_name) << "require-handles: true\n";
    CHECK(find_project_files({tree / "repository/app"}).empty());
    std::ofstream(tree / "repository" / project_file_name) << "skip: [a]\n";
    std::ofstream(tree / "repository/lib" / project_file_name) << "skip: [b]\n";
    const auto found = find_project_files({tree / "repository/lib/src/x.c", tree / "repository/app",
                                           tree / "repository/app"});
    REQUIRE(found.size() == 2);
    CHECK(found[0].folder == tree / "repository");
    CHECK(found[1].folder == tree / "repository/lib");
}
