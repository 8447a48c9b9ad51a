// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "facts.hpp"
#include "finding.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

/// The analysis of one file, in this process. Made to run in a child process: it may use much memory, and
/// code that makes the compiler crash takes only the child with it.
///
///     AnalyseRequest request;
///     request.file = "src/staging.cpp";
///     request.arguments = {"-std=c++17", "-Iinclude"};
///     const AnalyseResult result = analyse_file(request);
namespace pinwarden::scan {

struct AnalyseRequest {
    std::string file;
    std::string directory;  ///< relative paths in `arguments` start here; empty: the current directory
    std::vector<std::string>
        arguments;                   ///< the compiler's arguments, without the compiler and without the file
    std::string cuda_path;           ///< root of a CUDA toolkit; empty: the prelude declares what is needed
    std::string resource_directory;  ///< clang's own headers; empty: where clang 19 was found at build time
    std::vector<Api> extra_apis;     ///< the user's own calls, and wrappers found in other files
    bool report_raw_pins = false;    ///< also report every pin call (`raw-pin`)
};

struct AnalyseResult {
    std::string file;
    bool skipped = false;  ///< no call of the table is named in the file
    bool parsed = false;   ///< the compiler produced a tree, complete or not
    unsigned errors = 0;
    unsigned functions = 0;  ///< functions that were followed path by path
    std::vector<std::string> missing_headers;
    std::vector<Finding> findings;
    FileFacts facts;
};

/// Analyses one file. Never throws for broken code: the result says how far it came.
AnalyseResult analyse_file(const AnalyseRequest& request);

/// The CUDA toolkit of this machine: `CUDA_PATH`, `CUDA_HOME`, else `/usr/local/cuda`; empty if there is
/// none.
std::string find_cuda_path();

void to_json(nlohmann::json& out, const AnalyseRequest& request);
void from_json(const nlohmann::json& in, AnalyseRequest& request);
void to_json(nlohmann::json& out, const AnalyseResult& result);
void from_json(const nlohmann::json& in, AnalyseResult& result);

}  // namespace pinwarden::scan
