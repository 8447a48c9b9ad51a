// SPDX-License-Identifier: Apache-2.0
#include "report/symboliser.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "report/debug_information.hpp"

namespace pinwarden::audit {
namespace {

// The dynamic linker names the program as it was called, which need not be a path.
std::string path_of_program() {
    std::array<char, 4096> path{};
    const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

struct ModulePlace {
    std::string module;
    std::string function;
};

ModulePlace module_of(std::uintptr_t address) {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(address), &info) == 0) return {};
    ModulePlace place;
    if (info.dli_fname != nullptr) {
        place.module = *info.dli_fname == '/' ? std::string(info.dli_fname) : path_of_program();
    }
    if (info.dli_sname != nullptr) place.function = demangled(info.dli_sname);
    return place;
}

}  // namespace

std::string demangled(const char* symbol) {
    int status = 0;
    char* const name = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
    const std::unique_ptr<char, decltype(&std::free)> owner(name, &std::free);
    return status == 0 && name != nullptr ? name : symbol;
}

Symboliser::Symboliser() noexcept = default;
Symboliser::~Symboliser() = default;

std::vector<StoredFrame> Symboliser::frames(const std::vector<const void*>& stack) {
    if (!is_open_ && !stack.empty()) {
        is_open_ = true;
        information_ = make_debug_information();
    }
    std::vector<StoredFrame> found;
    for (const void* const return_address : stack) {
        // A call may be the last instruction of its function, so that what it returns to belongs to another.
        const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(return_address) - 1;
        ModulePlace module = module_of(call);
        const std::string address = fmt::format("{}", return_address);
        std::vector<CodePlace> places = information_ ? information_->places(call) : std::vector<CodePlace>();
        // What has no debugging information may still export the function.
        if (places.empty()) places.emplace_back();
        for (CodePlace& place : places) {
            const bool is_named = !place.function.empty();
            found.push_back({.address = address,
                             .module = module.module,
                             .function = is_named ? std::move(place.function) : module.function,
                             .file = std::move(place.file),
                             .line = place.line});
        }
    }
    return found;
}

}  // namespace pinwarden::audit
