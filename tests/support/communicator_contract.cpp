// SPDX-License-Identifier: Apache-2.0
#include <support/communicator_contract.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace pinwarden::testing {
namespace {

using zero::Bf16;
using zero::Communicator;
using zero::Fp16;
using zero::Reduction;

void require(bool condition, const char* what, const Communicator& ranks) {
    if (condition) return;
    throw std::logic_error(std::string(what) + " is not so on rank " + std::to_string(ranks.rank()) + " of " +
                           std::to_string(ranks.size()));
}

// Parts of different sizes; that of rank 1 is empty.
std::vector<std::size_t> uneven_counts(std::size_t size) {
    std::vector<std::size_t> counts(size);
    for (std::size_t rank = 0; rank < size; ++rank) counts[rank] = rank == 1 ? 0 : 5 * rank + 3;
    return counts;
}

std::size_t sum_before(const std::vector<std::size_t>& counts, std::size_t rank) {
    return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank),
                           std::size_t{0});
}

// A number whose sums in low precision depend on the order of the addends.
float value_of(std::size_t rank, std::size_t position) {
    return std::ldexp(1.0F + static_cast<float>((rank * 7 + position * 3) % 13) / 16.0F,
                      static_cast<int>(rank % 3) * 6);
}

void check_broadcast(Communicator& ranks) {
    for (std::size_t root = 0; root < ranks.size(); ++root) {
        std::vector<std::byte> data(100, static_cast<std::byte>(ranks.rank()));
        ranks.broadcast(data, root);
        for (const std::byte value : data) require(value == static_cast<std::byte>(root), "broadcast", ranks);
    }
}

void check_all_gather(Communicator& ranks) {
    const auto sizes = uneven_counts(ranks.size());
    std::vector<std::byte> all(sum_before(sizes, ranks.size()), std::byte{0xEE});
    for (std::size_t i = 0; i < sizes[ranks.rank()]; ++i)
        all[sum_before(sizes, ranks.rank()) + i] = static_cast<std::byte>(ranks.rank() * 40 + i);
    ranks.all_gather(all, sizes);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        for (std::size_t i = 0; i < sizes[rank]; ++i) {
            require(all[sum_before(sizes, rank) + i] == static_cast<std::byte>(rank * 40 + i), "all_gather",
                    ranks);
        }
    }
}

template <typename T, typename ToT>
void check_reduce_scatter(Communicator& ranks, ToT to_element) {
    const auto counts = uneven_counts(ranks.size());
    const std::size_t elements = sum_before(counts, ranks.size());
    std::vector<T> data(elements);
    for (std::size_t i = 0; i < elements; ++i) data[i] = to_element(value_of(ranks.rank(), i));
    const std::vector<T> before = data;
    ranks.reduce_scatter(data, counts);
    const std::size_t begin = sum_before(counts, ranks.rank());
    for (std::size_t i = 0; i < elements; ++i) {
        T expected = before[i];
        if (i >= begin && i < begin + counts[ranks.rank()]) {
            expected = to_element(value_of(0, i));
            for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
                if constexpr (std::is_same_v<T, float>) {
                    expected += value_of(rank, i);
                } else {
                    expected = to_element(expected.to_float() + to_element(value_of(rank, i)).to_float());
                }
            }
        }
        require(data[i] == expected, "reduce_scatter", ranks);
    }
}

void check_all_reduce(Communicator& ranks) {
    const auto rank = static_cast<double>(ranks.rank());
    const auto size = static_cast<double>(ranks.size());
    std::array<double, 3> sums{rank + 1.0, 0.1 * (rank + 1.0), 0.0};
    double tenths = 0.1;
    for (std::size_t other = 1; other < ranks.size(); ++other)
        tenths += 0.1 * (static_cast<double>(other) + 1.0);
    ranks.all_reduce(sums, Reduction::sum);
    require(sums[0] == size * (size + 1.0) / 2.0 && sums[1] == tenths && sums[2] == 0.0, "all_reduce(sum)",
            ranks);

    const bool last = ranks.rank() + 1 == ranks.size();
    std::array<double, 2> largest{-rank, last ? std::numeric_limits<double>::quiet_NaN() : 1.0};
    ranks.all_reduce(largest, Reduction::maximum);
    require(largest[0] == 0.0 && std::isnan(largest[1]), "all_reduce(maximum)", ranks);

    std::array<double, 2> any{last ? 3.0 : 0.0, 0.0};
    ranks.all_reduce(any, Reduction::logical_or);
    require(any[0] == 1.0 && any[1] == 0.0, "all_reduce(logical_or)", ranks);
}

void check_split(Communicator& ranks) {
    const auto half = ranks.split(ranks.rank() % 2);
    require(half->rank() == ranks.rank() / 2, "split: the rank in the part", ranks);
    require(half->size() == (ranks.size() + 1 - ranks.rank() % 2) / 2, "split: the part's size", ranks);
    std::array<double, 1> sum{static_cast<double>(ranks.rank())};
    half->all_reduce(sum, Reduction::sum);
    double expected = 0.0;
    for (std::size_t other = ranks.rank() % 2; other < ranks.size(); other += 2) {
        expected += static_cast<double>(other);
    }
    require(sum[0] == expected, "split: a sum in the part", ranks);
}

}  // namespace

void check_contract(Communicator& ranks) {
    ranks.barrier();
    check_broadcast(ranks);
    check_all_gather(ranks);
    check_reduce_scatter<float>(ranks, [](float value) { return value; });
    check_reduce_scatter<Bf16>(ranks, [](float value) { return Bf16::from_float(value); });
    check_reduce_scatter<Fp16>(ranks, [](float value) { return Fp16::from_float(value); });
    check_all_reduce(ranks);
    check_split(ranks);
    ranks.barrier();
}

}  // namespace pinwarden::testing
