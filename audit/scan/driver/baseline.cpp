// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/baseline.hpp"

#include "scan/driver/sarif_report.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace pinwarden::scan {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& problem) {
    throw ConfigurationError(fmt::format("Cannot use the baseline {}: {}; write one with `pinwarden scan --format json "
                                         "--output FILE`.",
                                         file.string(), problem));
}

}  // namespace

std::set<std::string> read_baseline(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) refuse(file, "it does not exist or cannot be read");
    std::set<std::string> known;
    try {
        const nlohmann::json document = nlohmann::json::parse(stream);
        if (document.is_object() && document.contains("runs")) {
            for (const nlohmann::json& run : document.at("runs")) {
                for (const nlohmann::json& result : run.value("results", nlohmann::json::array()))
                    known.insert(result.at("partialFingerprints").at(fingerprint_name).get<std::string>());
            }
        } else {
            for (const nlohmann::json& finding : document.at("findings"))
                known.insert(finding.at("fingerprint").get<std::string>());
        }
    } catch (const nlohmann::json::exception& error) {
        refuse(file, fmt::format("it is no report of a scan ({})", error.what()));
    }
    return known;
}

}  // namespace pinwarden::scan
