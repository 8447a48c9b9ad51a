// SPDX-License-Identifier: Apache-2.0
#include "analyse.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>

// The program behind `pinwarden scan`: one file, described by JSON on the standard input, its result as JSON on the
// standard output. A file that makes the compiler crash, or eat all memory, takes only this process with it.
int main()
{
    try {
        const auto request = nlohmann::json::parse(std::cin).get<pinwarden::scan::AnalyseRequest>();
        const nlohmann::json result = pinwarden::scan::analyse_file(request);
        const std::string text = result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
        return written && std::fflush(stdout) == 0 ? 0 : 2;
    } catch (const std::bad_alloc&) {
        std::fputs("out of memory\n", stderr);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    return 2;
}
