// SPDX-License-Identifier: Apache-2.0
// Analyses one file, in a process of its own: reads an `AnalyseRequest` as JSON from standard input, or takes
// the file and the compiler's arguments from the command line, and writes the `AnalyseResult` as JSON.
#include "analyse.hpp"
#include "join.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace {

pinwarden::scan::AnalyseRequest request_from(const std::vector<std::string>& words)
{
    pinwarden::scan::AnalyseRequest request;
    request.file = words.front();
    request.arguments.assign(words.begin() + 1, words.end());
    request.cuda_path = pinwarden::scan::find_cuda_path();
    return request;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (!words.empty() && words.front() == "--join") {
            const auto files = nlohmann::json::parse(std::cin).get<std::vector<pinwarden::scan::FileFacts>>();
            std::cout << nlohmann::json{{"findings", pinwarden::scan::join_facts(files)},
                                        {"wrappers", pinwarden::scan::wrappers_of(files)}}
                      << '\n';
            return 0;
        }
        const auto request = words.empty()
                                 ? nlohmann::json::parse(std::cin).get<pinwarden::scan::AnalyseRequest>()
                                 : request_from(words);
        std::cout << nlohmann::json(pinwarden::scan::analyse_file(request)) << '\n';
        return 0;
    } catch (const std::exception& problem) {
        std::cerr << "pinwarden-scan-file: " << problem.what() << '\n';
        return 2;
    }
}
