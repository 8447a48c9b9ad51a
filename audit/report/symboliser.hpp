// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What is known of addresses in the code of this process: the functions they are in, and their source lines.
///
/// Source lines come from debugging information, which libdw of elfutils reads where the build had its headers and the
/// machine has the library; it is loaded when the first stack is looked up, and never otherwise. Without it, the
/// dynamic linker still names the module and the functions that it exports.

#include <memory>
#include <vector>

#include <pinwarden/core/export.hpp>

#include "report/stored_report.hpp"

namespace pinwarden::audit {

class DebugInformation;

/// Looks up stacks of this process as it is now. Making one costs nothing; the first look-up reads the list of modules,
/// and the first in each module its debugging information. For one thread.
class PINWARDEN_API Symboliser {
public:
    Symboliser() noexcept;
    Symboliser(const Symboliser&) = delete;
    Symboliser& operator=(const Symboliser&) = delete;
    ~Symboliser();

    /// The calls of a stack, given as the addresses that they return to. A call that the compiler inlined is one more
    /// frame before the function that it was inlined into.
    /// @throws std::bad_alloc
    [[nodiscard]] std::vector<StoredFrame> frames(const std::vector<const void*>& stack);

private:
    std::unique_ptr<DebugInformation> information_;
    bool is_open_ = false;
};

}  // namespace pinwarden::audit
