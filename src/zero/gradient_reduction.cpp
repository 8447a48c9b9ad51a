// SPDX-License-Identifier: Apache-2.0
#include "zero/gradient_reduction.hpp"

#include <algorithm>

#include "zero/byte_view.hpp"
#include "zero/kernels.hpp"

namespace pinwarden::zero {
namespace {

void replace(gsl::span<std::byte> destination, gsl::span<const std::byte> source) noexcept {
    std::copy_n(source.data(), source.size(), destination.data());
}

void add(const Accumulation& accumulation, gsl::span<std::byte> sums,
         gsl::span<const std::byte> values) noexcept {
    if (accumulation.first) {
        replace(sums, values);
    } else {
        accumulate(accumulation.format, sums, values);
    }
}

gsl::span<std::byte> bucket_part(const Accumulation& accumulation, const GradientBucket& bucket,
                                 std::size_t begin, std::size_t end) {
    return accumulation.bucket.subspan((begin - bucket.begin) * lp_bytes, (end - begin) * lp_bytes);
}

// Calls `function(group, segment, begin, end)` for the global range that a bucket has in common with each
// segment.
template <typename Function>
void for_each_piece(const EngineLayout& layout, const GradientBucket& bucket, Function function) {
    for (std::size_t group = 0; group < layout.groups.size(); ++group) {
        for (const Segment& segment : layout.groups[group].segments) {
            const std::size_t begin = std::max(bucket.begin, segment.begin);
            const std::size_t end = std::min(bucket.end, segment.begin + segment.elements);
            if (begin < end) function(group, segment, begin, end);
        }
    }
}

// Adds up the ranks' buckets; afterwards each rank's own elements in it are the sums.
void reduce_bucket(const Accumulation& accumulation, const GradientBucket& bucket) {
    if (accumulation.layout->ranks == 1) return;
    for_each_piece(*accumulation.layout, bucket,
                   [&](std::size_t, const Segment& segment, std::size_t begin, std::size_t end) {
                       const auto counts = counts_within(segment, begin, end);
                       const auto part = bucket_part(accumulation, bucket, begin, end);
                       with_format(accumulation.format, [&]<typename Lp>(Lp) {
                           accumulation.ranks->reduce_scatter(view_as<Lp>(part), counts);
                       });
                   });
}

// Calls `function(group, segment, begin, end)` for the global range of this rank's own elements in a bucket.
template <typename Function>
void for_each_own_piece(const EngineLayout& layout, const GradientBucket& bucket, Function function) {
    for_each_piece(layout, bucket,
                   [&](std::size_t group, const Segment& segment, std::size_t begin, std::size_t end) {
                       const std::size_t from = std::max(begin, segment.mine_begin);
                       const std::size_t to = std::min(end, segment.mine_begin + segment.mine);
                       if (from < to) function(group, segment, from, to);
                   });
}

void tell(const Accumulation& accumulation, std::size_t end) {
    if (accumulation.progress != nullptr) accumulation.progress->complete_to(end);
}

void accumulate_divided(const Accumulation& accumulation) {
    const EngineLayout& layout = *accumulation.layout;
    for (const auto& bucket : layout.buckets) {
        replace(bucket_part(accumulation, bucket, bucket.begin, bucket.end),
                accumulation.gradients.subspan(bucket.begin * lp_bytes, bucket.size() * lp_bytes));
        reduce_bucket(accumulation, bucket);
        for_each_own_piece(
            layout, bucket,
            [&](std::size_t group, const Segment& segment, std::size_t begin, std::size_t end) {
                const std::size_t offset = segment.shard_begin + (begin - segment.mine_begin);
                add(accumulation,
                    accumulation.lp_grads[group].subspan(offset * lp_bytes, (end - begin) * lp_bytes),
                    bucket_part(accumulation, bucket, begin, end));
            });
        tell(accumulation, bucket.end);
    }
}

void accumulate_undivided(const Accumulation& accumulation) {
    const EngineLayout& layout = *accumulation.layout;
    for (std::size_t group = 0; group < layout.groups.size(); ++group) {
        const auto sums = accumulation.lp_grads[group];
        add(accumulation, sums,
            accumulation.gradients.subspan(layout.groups[group].begin * lp_bytes, sums.size()));
    }
    if (!accumulation.last) return;
    const auto in_sums = [&](std::size_t group, std::size_t begin, std::size_t end) {
        return accumulation.lp_grads[group].subspan((begin - layout.groups[group].begin) * lp_bytes,
                                                    (end - begin) * lp_bytes);
    };
    for (const auto& bucket : layout.buckets) {
        for_each_piece(layout, bucket,
                       [&](std::size_t group, const Segment&, std::size_t begin, std::size_t end) {
                           replace(bucket_part(accumulation, bucket, begin, end), in_sums(group, begin, end));
                       });
        reduce_bucket(accumulation, bucket);
        for_each_own_piece(
            layout, bucket, [&](std::size_t group, const Segment&, std::size_t begin, std::size_t end) {
                replace(in_sums(group, begin, end), bucket_part(accumulation, bucket, begin, end));
            });
        tell(accumulation, bucket.end);
    }
}

}  // namespace

void accumulate_micro_batch(const Accumulation& accumulation) {
    if (accumulation.layout->plan.divides_gradients) {
        accumulate_divided(accumulation);
    } else {
        accumulate_undivided(accumulation);
    }
    if (!accumulation.layout->plan.keeps_bucket) {
        // Nothing in it is needed any more, and a buffer made anew is filled with zeros as well.
        std::fill_n(accumulation.bucket.data(), accumulation.bucket.size(), std::byte{0});
    }
}

}  // namespace pinwarden::zero
