// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/fingerprint.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>

using namespace pinwarden::scan;

namespace {

using Lines = std::vector<std::string>;

Finding finding_at(const std::string& file, unsigned line, const std::string& rule = "leak") {
    Finding finding;
    finding.rule = rule;
    finding.function = "read_frame";
    finding.location = {file, line, 5};
    return finding;
}

std::vector<std::string> fingerprints(const std::vector<Finding>& findings, const Lines& lines) {
    return fingerprints_of(findings, [&](const std::string&) -> const Lines& { return lines; });
}

}  // namespace

TEST_CASE("Inserted lines, another folder and another indentation leave a fingerprint as it is") {
    const auto before = fingerprints({finding_at("/old/a.c", 1)}, {"  mlock(key, n);"});
    CHECK(fingerprints({finding_at("/old/a.c", 3)}, {"", "", "  mlock(key, n);"}) == before);
    CHECK(fingerprints({finding_at("/new/place/a.c", 1)}, {"  mlock(key, n);"}) == before);
    CHECK(fingerprints({finding_at("/old/a.c", 1)}, {"\tmlock( key,n );\r"}) == before);
}

TEST_CASE("Another rule, file name, function or line of code has another fingerprint") {
    const Lines lines = {"mlock(key, n);", "mlock(other, n);"};
    const auto before = fingerprints({finding_at("/a.c", 1)}, lines);
    CHECK(fingerprints({finding_at("/a.c", 1, "double-pin")}, lines) != before);
    CHECK(fingerprints({finding_at("/b.c", 1)}, lines) != before);
    CHECK(fingerprints({finding_at("/a.c", 2)}, lines) != before);
    Finding elsewhere = finding_at("/a.c", 1);
    elsewhere.function = "write_frame";
    CHECK(fingerprints({elsewhere}, lines) != before);
}

TEST_CASE("Findings that look alike are told apart by their order") {
    const Lines lines = {"mlock(key, n);", "mlock(key, n);"};
    const auto both = fingerprints({finding_at("/a.c", 1), finding_at("/a.c", 2)}, lines);
    REQUIRE(both.size() == 2);
    CHECK(both[0] != both[1]);
    CHECK(both[0] == fingerprints({finding_at("/a.c", 1)}, lines)[0]);
}

TEST_CASE("A finding without a line, or in a file that cannot be read, has a fingerprint too") {
    CHECK_FALSE(fingerprints({finding_at("/a.c", 0)}, {}).front().empty());
    CHECK_FALSE(fingerprints({finding_at("/a.c", 9)}, {}).front().empty());
}
