// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/report_paths.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden::scan;

TEST_CASE("Files below the base are shown relative to it, others as they are") {
    CHECK(shown_path("/w/src/a.c", "/w") == "src/a.c");
    CHECK(shown_path("/other/a.c", "/w") == "/other/a.c");
    CHECK(shown_path("/w2/a.c", "/w") == "/w2/a.c");
    CHECK(shown_path("/w/a.c", "") == "/w/a.c");
}

TEST_CASE("In a URI spaces, signs with a meaning and all beyond ASCII are escaped") {
    CHECK(uri_path("src/a-b_c.cpp") == "src/a-b_c.cpp");
    CHECK(uri_path("a b#c%d?\xC3\xA4") == "a%20b%23c%25d%3F%C3%A4");
}
