// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The debugging information of this process's modules. There is one implementation, on libdw; builds without it have
/// none.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pinwarden::audit {

/// A function and a place in it; what is not known is empty or 0.
struct CodePlace {
    std::string function{};
    std::string file{};
    std::uint32_t line = 0;
};

/// For one thread.
class DebugInformation {
public:
    DebugInformation() = default;
    DebugInformation(const DebugInformation&) = delete;
    DebugInformation& operator=(const DebugInformation&) = delete;
    virtual ~DebugInformation() = default;

    /// The places of an instruction: the innermost inlined function first, the function that holds the code last.
    /// Empty if nothing is known.
    [[nodiscard]] virtual std::vector<CodePlace> places(std::uintptr_t address) = 0;
};

/// The information of this process's modules as they are now; null if this build or this machine cannot read any.
[[nodiscard]] std::unique_ptr<DebugInformation> make_debug_information();

/// The name of a function as it stands in the source, if `symbol` is a mangled one.
[[nodiscard]] std::string demangled(const char* symbol);

}  // namespace pinwarden::audit
