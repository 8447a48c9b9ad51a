// SPDX-License-Identifier: Apache-2.0
#include "zero/gradient_buckets.hpp"

namespace pinwarden::zero {

std::vector<GradientBucket> make_gradient_buckets(gsl::span<const std::size_t> parameter_sizes,
                                                  std::size_t capacity) {
    std::vector<GradientBucket> buckets;
    GradientBucket bucket;
    for (const std::size_t size : parameter_sizes) {
        if (bucket.size() != 0 && size > capacity - bucket.size()) {
            buckets.push_back(bucket);
            bucket.begin = bucket.end;
        }
        bucket.end += size;
        if (bucket.size() >= capacity) {
            buckets.push_back(bucket);
            bucket.begin = bucket.end;
        }
    }
    if (bucket.size() != 0) buckets.push_back(bucket);
    return buckets;
}

}  // namespace pinwarden::zero
