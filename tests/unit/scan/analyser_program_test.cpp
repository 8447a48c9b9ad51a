// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/analyser_program.hpp"

#include <pinwarden/core/error.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using pinwarden::scan::find_analyser;

namespace {

void make_program(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("The analyser is found beside the program, and else where it is installed") {
    const pinwarden::testing::TemporaryFolder folder;
    make_program(folder / "libexec/pinwarden/pinwarden-scan-file");
    CHECK(find_analyser(folder / "bin/pinwarden") == folder / "libexec/pinwarden/pinwarden-scan-file");
    make_program(folder / "bin/pinwarden-scan-file");
    CHECK(find_analyser(folder / "bin/pinwarden") == folder / "bin/pinwarden-scan-file");
}

TEST_CASE("Without the analyser the error says what to install and how to build") {
    const pinwarden::testing::TemporaryFolder folder;
    CHECK_THROWS_MATCHES(
        find_analyser(folder / "bin/pinwarden"), pinwarden::UnavailableError,
        Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("libclang-cpp19-dev") &&
                                        Catch::Matchers::ContainsSubstring("-DPINWARDEN_BUILD_SCAN=ON")));
}
