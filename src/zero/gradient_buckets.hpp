// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// How gradients are cut into buckets: whole parameters, in order, up to a number of elements.

#include <cstddef>
#include <vector>

#include <gsl/span>

namespace pinwarden::zero {

/// Elements `[begin, end)` of all parameters of all groups, one after the other.
struct GradientBucket {
    std::size_t begin = 0;
    std::size_t end = 0;

    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
    friend bool operator==(const GradientBucket&, const GradientBucket&) = default;
};

/// Fills buckets of at most `capacity` elements with whole parameters; one that is larger gets a bucket of
/// its own.
/// @throws std::bad_alloc
[[nodiscard]] std::vector<GradientBucket> make_gradient_buckets(gsl::span<const std::size_t> parameter_sizes,
                                                                std::size_t capacity);

}  // namespace pinwarden::zero
