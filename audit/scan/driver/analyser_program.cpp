// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/analyser_program.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

namespace pinwarden::scan {

namespace {

constexpr const char* program_name = "pinwarden-scan-file";

}  // namespace

std::filesystem::path find_analyser(const std::filesystem::path& self) {
    const std::filesystem::path beside = self.parent_path() / program_name;
    const std::filesystem::path installed =
        (self.parent_path() / "../libexec/pinwarden" / program_name).lexically_normal();
    for (const std::filesystem::path& place : {beside, installed}) {
        if (::access(place.c_str(), X_OK) == 0) return place;
    }
    throw UnavailableError(
        fmt::format("This pinwarden has no static auditor: the program {} is neither {} nor {}. It needs Clang 19's "
                    "libraries: install libclang-19-dev, libclang-cpp19-dev and llvm-19-dev, and build Pinwarden with "
                    "-DPINWARDEN_BUILD_SCAN=ON.",
                    program_name, beside.string(), installed.string()));
}

}  // namespace pinwarden::scan
