// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/source_files.hpp"

#include <pinwarden/core/error.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

namespace fs = std::filesystem;
using pinwarden::scan::collect_sources;

namespace {

void touch(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "\n";
}

}  // namespace

TEST_CASE("A folder stands for the sources below it, without hidden folders and builds") {
    const pinwarden::testing::TemporaryFolder tree;
    for (const char* name :
         {"b/x.cu", "a.c", "b/y.hpp", "b/notes.txt", ".git/z.c", "out/gen.cpp", "out/CMakeCache.txt"})
        touch(tree / name);
    CHECK(collect_sources({tree.path()}) == std::vector<fs::path>{tree / "a.c", tree / "b/x.cu"});
}

TEST_CASE("A file stands for itself, whatever its ending, and no file is scanned twice") {
    const pinwarden::testing::TemporaryFolder tree;
    touch(tree / "a.c");
    touch(tree / "b.hpp");
    CHECK(collect_sources({tree / "b.hpp", tree / "a.c", tree / "." / "a.c", tree.path()}) ==
          std::vector<fs::path>{tree / "a.c", tree / "b.hpp"});
}

TEST_CASE("A path that does not exist is an error that names it") {
    CHECK_THROWS_MATCHES(collect_sources({"/nonexistent/tree"}), pinwarden::ConfigurationError,
                         Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("/nonexistent/tree")));
}

TEST_CASE("A link to a folder above does not make the search endless") {
    const pinwarden::testing::TemporaryFolder tree;
    touch(tree / "a/b.c");
    fs::create_directory_symlink(tree.path(), tree / "a/up");
    CHECK(collect_sources({tree.path()}) == std::vector<fs::path>{tree / "a/b.c"});
}
