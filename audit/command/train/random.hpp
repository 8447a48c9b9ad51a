// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Random numbers that are the same on every machine: the standard fixes the engine's sequence, but leaves
/// what its distributions make of it to each library.

#include <cstdint>
#include <random>

namespace pinwarden::command {

using RandomEngine = std::mt19937_64;

/// Uniform in [0, 1), a multiple of 2^-53.
[[nodiscard]] inline double uniform_unit(RandomEngine& engine) {
    constexpr double scale = 1.0 / 9007199254740992.0;  // 2^-53
    return static_cast<double>(engine() >> 11U) * scale;
}

/// Uniform in [0, bound), by the method of Lemire, "Fast Random Integer Generation in an Interval", ACM
/// TOMACS 29 (2019), without its rejection: the bias is below bound / 2^64.
/// @pre `bound > 0`
[[nodiscard]] inline std::uint64_t uniform_below(RandomEngine& engine, std::uint64_t bound) {
    // The high half of the 128-bit product, put together from 32-bit halves.
    const std::uint64_t random = engine();
    const std::uint64_t low = (random & 0xffffffffU) * (bound & 0xffffffffU);
    const std::uint64_t cross1 = (random >> 32U) * (bound & 0xffffffffU) + (low >> 32U);
    const std::uint64_t cross2 = (random & 0xffffffffU) * (bound >> 32U) + (cross1 & 0xffffffffU);
    return (random >> 32U) * (bound >> 32U) + (cross1 >> 32U) + (cross2 >> 32U);
}

}  // namespace pinwarden::command
