// SPDX-License-Identifier: Apache-2.0
#include "analyse.hpp"

#include <cstdlib>
#include <filesystem>

namespace pinwarden::scan {

std::string find_cuda_path()
{
    std::vector<std::string> places;
    for (const char* name : {"CUDA_PATH", "CUDA_HOME"}) {
        if (const char* value = std::getenv(name); value && *value)
            places.emplace_back(value);
    }
    places.emplace_back("/usr/local/cuda");
    for (const std::string& place : places) {
        std::error_code ignored;
        if (std::filesystem::exists(std::filesystem::path(place) / "include" / "cuda_runtime.h", ignored))
            return place;
    }
    return {};
}

}  // namespace pinwarden::scan
