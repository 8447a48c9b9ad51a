// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/changed_code.hpp"

#include <pinwarden/core/error.hpp>
#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

using pinwarden::scan::ChangedCode;
using pinwarden::scan::Finding;

namespace {

Finding finding_at(const std::string& file, unsigned line) {
    Finding finding;
    finding.location = {file, line, 1};
    return finding;
}

}  // namespace

TEST_CASE("The new side of a diff's hunks is what changed") {
    ChangedCode changed;
    changed.add_diff("diff --git a.c a.c\n--- a.c\n+++ a.c\n@@ -3,0 +4,2 @@ int f(void)\n+one\n+two\n"
                     "@@ -9 +11 @@\n-old\n+new\n",
                     "/tree");
    for (const unsigned line : {4U, 5U, 11U}) CHECK(changed.touches(finding_at("/tree/a.c", line)));
    for (const unsigned line : {3U, 6U, 10U, 13U}) CHECK_FALSE(changed.touches(finding_at("/tree/a.c", line)));
    CHECK_FALSE(changed.touches(finding_at("/tree/b.c", 4)));
}

TEST_CASE("Lines of a hunk that look like a head of a diff are none") {
    ChangedCode changed;
    changed.add_diff("+++ a.c\n@@ -1 +1,2 @@\n--- b.c\n++++ b.c\n+@@ -1 +7 @@\n@@ -20,0 +21 @@\n+x\n", "/tree");
    CHECK(changed.touches(finding_at("/tree/a.c", 2)));
    CHECK(changed.touches(finding_at("/tree/a.c", 21)));
    CHECK_FALSE(changed.touches(finding_at("/tree/a.c", 7)));
    CHECK_FALSE(changed.touches(finding_at("/tree/b.c", 7)));
}

TEST_CASE("Where lines were only taken out, those around the gap changed") {
    ChangedCode changed;
    changed.add_diff("+++ a.c\n@@ -5,2 +4,0 @@\n-gone\n-gone\n", "/tree");
    CHECK(changed.touches(finding_at("/tree/a.c", 4)));
    CHECK(changed.touches(finding_at("/tree/a.c", 5)));
    CHECK_FALSE(changed.touches(finding_at("/tree/a.c", 6)));
}

TEST_CASE("Names with unusual letters are understood as Git writes them") {
    ChangedCode changed;
    changed.add_diff("+++ \"a\\303\\244\\\"\\t.c\"\n@@ -0,0 +1 @@\n+x\n", "/tree");
    CHECK(changed.touches(finding_at("/tree/a\xC3\xA4\"\t.c", 1)));
}

TEST_CASE("A finding counts as changed when a place on its way did") {
    ChangedCode changed;
    changed.add_file("/tree/new.c");
    Finding finding = finding_at("/tree/old.c", 8);
    CHECK_FALSE(changed.touches(finding));
    finding.notes.push_back({{"/tree/new.c", 100, 1}, "released here"});
    CHECK(changed.touches(finding));
}

TEST_CASE("A folder outside any repository is an error that says so") {
    const pinwarden::testing::TemporaryFolder folder;
    CHECK_THROWS_AS(pinwarden::scan::changed_since("HEAD", {folder.path()}), pinwarden::ConfigurationError);
}
