// SPDX-License-Identifier: Apache-2.0
#include "zero/config_name.hpp"

#include <algorithm>
#include <utility>

namespace pinwarden::zero {
namespace {

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace

std::size_t name_distance(std::string_view left, std::string_view right) {
    // Row i holds the distances from the first i letters of `left` to each beginning of `right`.
    std::vector<std::size_t> before_last(right.size() + 1);
    std::vector<std::size_t> last(right.size() + 1);
    std::vector<std::size_t> now(right.size() + 1);
    for (std::size_t j = 0; j <= right.size(); ++j) now[j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, now);
        now[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const bool same = lower(left[i - 1]) == lower(right[j - 1]);
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && lower(left[i - 1]) == lower(right[j - 2]) &&
                                 lower(left[i - 2]) == lower(right[j - 1]);
            if (swapped) now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
    }
    return now[right.size()];
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             const std::vector<std::string_view>& candidates) {
    constexpr std::size_t longest_name = 64;  // keeps a hostile name from costing time
    if (name.size() > longest_name) return std::nullopt;
    std::optional<std::string_view> nearest;
    std::size_t smallest = std::max<std::size_t>(1, name.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = name_distance(name, candidate);
        if (distance >= smallest) continue;
        smallest = distance;
        nearest = candidate;
    }
    return nearest;
}

}  // namespace pinwarden::zero
