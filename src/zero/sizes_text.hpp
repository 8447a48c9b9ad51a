// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The sizes of a collective call, in words.

#include <cstddef>
#include <string>

#include <gsl/span>

namespace pinwarden::zero {

/// `[4, 4, 2] bytes`
[[nodiscard]] inline std::string sizes_text(gsl::span<const std::size_t> sizes) {
    std::string text = "[";
    for (const std::size_t size : sizes) {
        if (text.size() > 1) text += ", ";
        text += std::to_string(size);
    }
    return text + "] bytes";
}

}  // namespace pinwarden::zero
