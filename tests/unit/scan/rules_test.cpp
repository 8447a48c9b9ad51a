// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/rules.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

using namespace pinwarden::scan;

TEST_CASE("The rules are sorted, each is found by its id, and an unknown one is not") {
    const auto rules = all_rules();
    CHECK(rules.size() == 17);
    CHECK(std::is_sorted(rules.begin(), rules.end(),
                         [](const Rule& left, const Rule& right) { return left.id < right.id; }));
    for (std::size_t index = 0; index < rules.size(); ++index) CHECK(rule_index(rules[index].id) == index);
    CHECK(rule_index("leek") == rules.size());
    CHECK(rule_names().find("conditional-release, copyable-owner, ") != std::string::npos);
}

TEST_CASE("Each rule has a page that says why, shows bad and good, and how to suppress") {
    for (const Rule& rule : all_rules()) {
        CAPTURE(rule.id);
        std::ifstream stream(std::filesystem::path(PINWARDEN_RULE_PAGES) / (std::string(rule.id) + ".md"));
        const std::string page{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
        CHECK(page.starts_with("# `" + std::string(rule.id) + "`"));
        for (const char* part : {"**Why.**", "**Bad**", "**Good**", "**Suppress**"})
            CHECK(page.find(part) != std::string::npos);
    }
}
