// SPDX-License-Identifier: Apache-2.0
#include <command/output_file.hpp>

#include <command/file.hpp>
#include <support/temporary_folder.hpp>

#include <pinwarden/core/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <fstream>
#include <iterator>

using namespace pinwarden::command;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using pinwarden::ConfigurationError;
using pinwarden::testing::TemporaryFolder;

namespace {

std::string content(const std::filesystem::path& file) {
    return read_file(file, "the file", 100'000);
}

std::ptrdiff_t entries(const TemporaryFolder& folder) {
    return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

}  // namespace

TEST_CASE("A new file appears when it is committed, whole, and nothing else stays") {
    const TemporaryFolder folder;
    {
        OutputFile file(folder / "summary", "the summary");
        CHECK(!std::filesystem::exists(folder / "summary"));
        file.commit("all of it\n");
    }
    CHECK(content(folder / "summary") == "all of it\n");
    CHECK(entries(folder) == 1);
}

TEST_CASE("Content may be shorter or longer than the space set aside") {
    const TemporaryFolder folder;
    OutputFile(folder / "empty", "the summary").commit("");
    CHECK(content(folder / "empty").empty());
    const std::string large(3 * OutputFile::reserved_bytes + 1, 'x');
    OutputFile(folder / "large", "the summary").commit(large);
    CHECK(content(folder / "large") == large);
}

TEST_CASE("An old file stays what it was until the new one is committed") {
    const TemporaryFolder folder;
    std::ofstream(folder / "summary") << "old";
    { const OutputFile file(folder / "summary", "the summary"); }
    CHECK(content(folder / "summary") == "old");
    CHECK(entries(folder) == 1);
    OutputFile(folder / "summary", "the summary").commit("new");
    CHECK(content(folder / "summary") == "new");
}

TEST_CASE("A moved file is committed and removed once") {
    const TemporaryFolder folder;
    OutputFile first(folder / "summary", "the summary");
    OutputFile second = std::move(first);
    second.commit("moved");
    CHECK(content(folder / "summary") == "moved");
    { const OutputFile third = OutputFile(folder / "other", "the summary"); }
    CHECK(entries(folder) == 1);
}

TEST_CASE("The permissions are those that the umask leaves, as for any new file") {
    const TemporaryFolder folder;
    const ::mode_t old_mask = ::umask(0027);
    OutputFile(folder / "summary", "the summary").commit("text");
    ::umask(old_mask);
    CHECK(std::filesystem::status(folder / "summary").permissions() == std::filesystem::perms{0640});
}

TEST_CASE("A symbolic link is followed, not replaced") {
    const TemporaryFolder folder;
    std::ofstream(folder / "target") << "old";
    std::filesystem::create_symlink("target", folder / "link");
    OutputFile(folder / "link", "the summary").commit("new");
    CHECK(std::filesystem::is_symlink(folder / "link"));
    CHECK(content(folder / "target") == "new");
}

TEST_CASE("A device is written to directly and stays a device") {
    OutputFile("/dev/null", "the summary").commit("text");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    OutputFile full("/dev/full", "the summary");
    CHECK_THROWS_MATCHES(full.commit("text"), ConfigurationError,
                         MessageMatches(ContainsSubstring("Cannot write the summary to '/dev/full'") &&
                                        ContainsSubstring("No space left on device")));
    CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("What cannot be written is refused before the work, with the path and the answer") {
    const TemporaryFolder folder;
    const auto refused = [](const std::filesystem::path& path, const std::string& answer) {
        CHECK_THROWS_MATCHES(
            OutputFile(path, "the summary"), ConfigurationError,
            MessageMatches(ContainsSubstring("Cannot write the summary to '" + path.string()) &&
                           ContainsSubstring(answer)));
    };
    std::ofstream(folder / "file");
    refused(folder.path(), "Is a directory");
    refused(folder / "missing" / "summary", "No such file or directory");
    refused(folder / "file" / "summary", "Not a directory");
    refused((folder / "missing").string() + "/", "Is a directory");
    refused("", "No such file or directory");
    refused(folder / std::string(300, 'x'), "File name too long");
    CHECK(entries(folder) == 1);
}
