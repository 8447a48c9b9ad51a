// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/config_fields.hpp>

#include <catch2/catch_test_macros.hpp>

#include <fstream>
#include <set>
#include <string>

namespace zero = pinwarden::zero;

namespace {

std::string treatment_in_words(const zero::ConfigField& field) {
    switch (field.treatment) {
        case zero::FieldTreatment::honoured: return field.required ? "honoured, required" : "honoured";
        case zero::FieldTreatment::no_effect: return "no effect";
        case zero::FieldTreatment::fixed: return "fixed";
        case zero::FieldTreatment::refused: return "refused";
    }
    return "";
}

/// The field's row of the table in docs/engines-configuration.md.
std::string row_of(const zero::ConfigField& field) {
    return "| `" + field.path + "` | " + treatment_in_words(field) + " | " + field.valid + " | " +
           field.note + " |";
}

}  // namespace

TEST_CASE("the documentation lists each field of a configuration as the reader treats it, and no other",
          "[zero]") {
    std::ifstream page{PINWARDEN_DOCS_FOLDER "/engines-configuration.md"};
    REQUIRE(page.is_open());
    std::set<std::string> documented;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| `")) documented.insert(line);
    }
    std::set<std::string> known;
    for (const auto& field : zero::config_fields()) known.insert(row_of(field));
    for (const auto& row : known) {
        INFO("missing from the page: " << row);
        CHECK(documented.contains(row));
    }
    for (const auto& row : documented) {
        INFO("unknown to the reader: " << row);
        CHECK(known.contains(row));
    }
}

TEST_CASE("each field has a path of its own, inside a section that is listed before it", "[zero]") {
    std::set<std::string> seen;
    for (const auto& field : zero::config_fields()) {
        INFO(field.path);
        CHECK(seen.insert(field.path).second);
        const auto dot = field.path.rfind('.');
        if (dot != std::string::npos) CHECK(seen.contains(field.path.substr(0, dot)));
    }
}

TEST_CASE("each field that is not honoured says why", "[zero]") {
    for (const auto& field : zero::config_fields()) {
        INFO(field.path);
        CHECK((field.treatment == zero::FieldTreatment::honoured || !field.note.empty()));
    }
}
