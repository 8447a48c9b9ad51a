// SPDX-License-Identifier: Apache-2.0
#include "analyse.hpp"

#include <nlohmann/json.hpp>

namespace pinwarden::scan {

void to_json(nlohmann::json& out, const AnalyseRequest& request)
{
    out = {{"file", request.file},
           {"directory", request.directory},
           {"arguments", request.arguments},
           {"cuda_path", request.cuda_path},
           {"resource_directory", request.resource_directory},
           {"extra_apis", request.extra_apis},
           {"report_raw_pins", request.report_raw_pins}};
}

void from_json(const nlohmann::json& in, AnalyseRequest& request)
{
    in.at("file").get_to(request.file);
    request.directory = in.value("directory", std::string{});
    request.arguments = in.value("arguments", std::vector<std::string>{});
    request.cuda_path = in.value("cuda_path", std::string{});
    request.resource_directory = in.value("resource_directory", std::string{});
    request.extra_apis = in.value("extra_apis", std::vector<Api>{});
    request.report_raw_pins = in.value("report_raw_pins", false);
}

void to_json(nlohmann::json& out, const AnalyseResult& result)
{
    out = {{"file", result.file},           {"skipped", result.skipped},
           {"parsed", result.parsed},       {"errors", result.errors},
           {"functions", result.functions}, {"missing_headers", result.missing_headers},
           {"findings", result.findings},   {"facts", result.facts}};
}

void from_json(const nlohmann::json& in, AnalyseResult& result)
{
    in.at("file").get_to(result.file);
    in.at("skipped").get_to(result.skipped);
    in.at("parsed").get_to(result.parsed);
    in.at("errors").get_to(result.errors);
    in.at("functions").get_to(result.functions);
    in.at("missing_headers").get_to(result.missing_headers);
    in.at("findings").get_to(result.findings);
    in.at("facts").get_to(result.facts);
}

}  // namespace pinwarden::scan
