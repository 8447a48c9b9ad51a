// SPDX-License-Identifier: Apache-2.0
#include <command/file.hpp>

#include <support/temporary_folder.hpp>

#include <pinwarden/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <fstream>
#include <thread>

using namespace pinwarden::command;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pinwarden::ConfigurationError;
using pinwarden::testing::TemporaryFolder;

TEST_CASE("A file is read whole, bytes of any value and any number of chunks") {
    const TemporaryFolder folder;
    std::string bytes(200'001, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
    std::ofstream(folder / "file", std::ios::binary) << bytes;
    CHECK(read_file(folder / "file", "the text", bytes.size()) == bytes);
    std::ofstream(folder / "empty");
    CHECK(read_file(folder / "empty", "the text", 1).empty());
}

TEST_CASE("A pipe is read to its end") {
    const TemporaryFolder folder;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(folder / "pipe") << std::string(100'000, 'x'); });
    CHECK(read_file(folder / "pipe", "the text", 1'000'000) == std::string(100'000, 'x'));
    writer.join();
}

TEST_CASE("Files whose size the system does not tell are read too") {
    CHECK(!read_file("/proc/self/status", "the text", 1'000'000).empty());
}

TEST_CASE("What cannot be read is refused with its role, its name and the answer") {
    const TemporaryFolder folder;
    CHECK_THROWS_MATCHES(
        read_file(folder / "missing", "the text", 1), ConfigurationError,
        MessageMatches(ContainsSubstring("Cannot read the text '" + (folder / "missing").string() + "'") &&
                       ContainsSubstring("No such file or directory")));
    CHECK_THROWS_MATCHES(read_file(folder.path(), "the text", 1), ConfigurationError,
                         MessageMatches(ContainsSubstring("Is a directory")));
}

TEST_CASE("What is too large is refused, known in advance or not") {
    const TemporaryFolder folder;
    std::ofstream(folder / "file") << std::string(1001, 'x');
    CHECK(read_file(folder / "file", "the text", 1001).size() == 1001);
    CHECK_THROWS_MATCHES(read_file(folder / "file", "the text", 1000), ConfigurationError,
                         MessageMatches(ContainsSubstring("larger than 1000 bytes")));
    CHECK_THROWS_AS(read_file("/dev/zero", "the text", 1'000'000), ConfigurationError);
}
