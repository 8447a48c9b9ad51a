// SPDX-License-Identifier: Apache-2.0
#include "finding.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>

namespace pinwarden::scan {

std::string to_string(Confidence confidence)
{
    return confidence == Confidence::certain ? "certain" : "likely";
}

void sort_and_unify(std::vector<Finding>& findings)
{
    const auto key = [](const Finding& finding) { return std::tie(finding.location, finding.rule); };
    std::sort(findings.begin(), findings.end(), [&](const Finding& left, const Finding& right) {
        return std::tie(left.location, left.rule, left.confidence, left.message) <
               std::tie(right.location, right.rule, right.confidence, right.message);
    });
    findings.erase(
        std::unique(findings.begin(), findings.end(),
                    [&](const Finding& left, const Finding& right) { return key(left) == key(right); }),
        findings.end());
}

void to_json(nlohmann::json& out, const Location& location)
{
    out = {{"file", location.file}, {"line", location.line}, {"column", location.column}};
}

void from_json(const nlohmann::json& in, Location& location)
{
    in.at("file").get_to(location.file);
    in.at("line").get_to(location.line);
    in.at("column").get_to(location.column);
}

void to_json(nlohmann::json& out, const Finding& finding)
{
    nlohmann::json notes = nlohmann::json::array();
    for (const PathNote& note : finding.notes)
        notes.push_back({{"location", note.location}, {"text", note.text}});
    out = {{"rule", finding.rule},         {"confidence", to_string(finding.confidence)},
           {"location", finding.location}, {"message", finding.message},
           {"function", finding.function}, {"notes", std::move(notes)}};
}

void from_json(const nlohmann::json& in, Finding& finding)
{
    in.at("rule").get_to(finding.rule);
    finding.confidence = in.at("confidence") == "certain" ? Confidence::certain : Confidence::likely;
    in.at("location").get_to(finding.location);
    in.at("message").get_to(finding.message);
    in.at("function").get_to(finding.function);
    finding.notes.clear();
    for (const nlohmann::json& note : in.at("notes"))
        finding.notes.push_back({note.at("location").get<Location>(), note.at("text").get<std::string>()});
}

}  // namespace pinwarden::scan
