// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/compile_database.hpp"

#include <pinwarden/core/error.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

using pinwarden::scan::CompileDatabase;
using pinwarden::scan::read_compile_database;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("Commands as text and as words are read, files by their whole path, the first command of a file counting") {
    const pinwarden::testing::TemporaryFolder folder;
    write(folder / "compile_commands.json", R"([
      {"directory": "/b", "file": "../s/a.c", "command": "gcc -DX=\"1 2\" -O2 -Wall -o a.o -c ../s/a.c"},
      {"directory": "/b", "file": "/s/k.cu", "arguments": ["nvcc", "-arch", "sm_90", "-Iinclude", "-c", "/s/k.cu"]},
      {"directory": "/b", "file": "/s/a.c", "command": "gcc -DY -c /s/a.c"}])");
    const CompileDatabase database = read_compile_database(folder.path());
    REQUIRE(database.size() == 2);
    CHECK(database.at("/s/a.c").directory == "/b");
    CHECK(database.at("/s/a.c").arguments == std::vector<std::string>{"-DX=1 2"});
    CHECK(database.at("/s/k.cu").arguments == std::vector<std::string>{"-Iinclude"});
    CHECK(read_compile_database(folder / "compile_commands.json").size() == 2);
}

TEST_CASE("A database that is missing or wrong is an error that says what to do") {
    using Catch::Matchers::ContainsSubstring;
    using Catch::Matchers::MessageMatches;
    const pinwarden::testing::TemporaryFolder folder;
    const auto file = folder / "compile_commands.json";
    CHECK_THROWS_MATCHES(read_compile_database(folder.path()), pinwarden::ConfigurationError,
                         MessageMatches(ContainsSubstring("CMAKE_EXPORT_COMPILE_COMMANDS")));
    write(file, "[{");
    CHECK_THROWS_MATCHES(read_compile_database(folder.path()), pinwarden::ConfigurationError,
                         MessageMatches(ContainsSubstring("line 1")));
    write(file, "{}");
    CHECK_THROWS_AS(read_compile_database(folder.path()), pinwarden::ConfigurationError);
    write(file, R"([{"directory": "/b", "file": "a.c", "command": "gcc a.c"}, {"file": "b.c"}])");
    CHECK_THROWS_MATCHES(read_compile_database(folder.path()), pinwarden::ConfigurationError,
                         MessageMatches(ContainsSubstring("entry 1")));
}
