// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/communicator.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include <fmt/format.h>

#include "zero/sizes_text.hpp"

namespace pinwarden::zero {
namespace {

float as_float(float value) { return value; }
float as_float(Bf16 value) { return value.to_float(); }
float as_float(Fp16 value) { return value.to_float(); }

template <typename T>
T rounded(float value) {
    if constexpr (std::is_same_v<T, float>) {
        return value;
    } else {
        return T::from_float(value);
    }
}

double combine(double left, double right, Reduction reduction) {
    switch (reduction) {
        case Reduction::sum:
            return left + right;
        case Reduction::maximum:
            if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<double>::quiet_NaN();
            return std::max(left, right);
        case Reduction::logical_or:
            return left != 0.0 || right != 0.0 ? 1.0 : 0.0;
    }
    return left;
}

std::string_view operation_of(Reduction reduction) {
    switch (reduction) {
        case Reduction::sum:
            return "all_reduce(sum)";
        case Reduction::maximum:
            return "all_reduce(maximum)";
        case Reduction::logical_or:
            return "all_reduce(logical_or)";
    }
    return "all_reduce";
}

std::size_t total(gsl::span<const std::size_t> sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

// A group of one: there is nobody to wait for.
class SingleRank final : public Communicator {
public:
    [[nodiscard]] std::size_t rank() const noexcept override { return 0; }
    [[nodiscard]] std::size_t size() const noexcept override { return 1; }
    [[nodiscard]] std::string_view name() const noexcept override { return "single"; }

protected:
    void do_barrier(const Call&) override {}
    void do_broadcast(const Call&, gsl::span<std::byte>) override {}
    void do_all_gather(const Call&, gsl::span<std::byte>) override {}
    void do_exchange(const Call&, gsl::span<const std::byte> data, gsl::span<std::byte> received) override {
        std::copy(data.begin(), data.end(), received.begin());
    }
    std::shared_ptr<Communicator> do_split(const Call&, std::size_t) override {
        return std::make_shared<SingleRank>();
    }
};

}  // namespace

Communicator::~Communicator() = default;

std::string Communicator::describe(const Call& call) const {
    return fmt::format("{} of {} on rank {} of {} of group '{}'", call.operation, sizes_text(call.sizes),
                       rank(), size(), name());
}

void Communicator::require_parts(const Call& call, std::size_t bytes) const {
    if (call.sizes.size() == size() && total(call.sizes) == bytes) return;
    throw CommunicationError(
        fmt::format("{}: {} sizes were given for {} bytes; give one per rank, which add up to what is shared",
                    describe(call), call.sizes.size(), bytes));
}

void Communicator::barrier() { do_barrier({.operation = "barrier"}); }

void Communicator::broadcast(gsl::span<std::byte> data, std::size_t root) {
    const std::array<std::size_t, 1> sizes{data.size()};
    const Call call{.operation = "broadcast", .sizes = sizes, .root = root};
    if (root >= size()) {
        throw CommunicationError(
            fmt::format("{}: the root is rank {}; valid: 0 to {}", describe(call), root, size() - 1));
    }
    do_broadcast(call, data);
}

void Communicator::all_gather(gsl::span<std::byte> all, gsl::span<const std::size_t> sizes) {
    const Call call{.operation = "all_gather", .sizes = sizes};
    require_parts(call, all.size());
    do_all_gather(call, all);
}

template <typename T>
void Communicator::reduce_scatter_elements(gsl::span<T> data, gsl::span<const std::size_t> counts) {
    std::vector<std::size_t> sizes(counts.begin(), counts.end());
    for (std::size_t& bytes : sizes) bytes *= sizeof(T);
    const Call call{.operation = "reduce_scatter", .sizes = sizes};
    require_parts(call, data.size_bytes());
    if (size() == 1) return;
    const std::size_t count = counts[rank()];
    const auto before = static_cast<std::ptrdiff_t>(rank());
    T* const mine = data.data() + std::accumulate(counts.begin(), counts.begin() + before, std::size_t{0});
    std::vector<T> received(count * size());
    do_exchange(call, gsl::as_bytes(gsl::span<const T>(data)),
                gsl::as_writable_bytes(gsl::span<T>(received)));
    std::copy_n(received.begin(), count, mine);
    for (std::size_t other = 1; other < size(); ++other) {
        const T* const addend = received.data() + other * count;
        for (std::size_t i = 0; i < count; ++i) mine[i] = rounded<T>(as_float(mine[i]) + as_float(addend[i]));
    }
}

void Communicator::reduce_scatter(gsl::span<float> data, gsl::span<const std::size_t> counts) {
    reduce_scatter_elements(data, counts);
}
void Communicator::reduce_scatter(gsl::span<Bf16> data, gsl::span<const std::size_t> counts) {
    reduce_scatter_elements(data, counts);
}
void Communicator::reduce_scatter(gsl::span<Fp16> data, gsl::span<const std::size_t> counts) {
    reduce_scatter_elements(data, counts);
}

void Communicator::all_reduce(gsl::span<double> values, Reduction reduction) {
    const std::vector<std::size_t> sizes(size(), values.size_bytes());
    const Call call{.operation = operation_of(reduction), .sizes = sizes};
    std::vector<double> all(values.size() * size());
    std::copy(values.begin(), values.end(),
              all.begin() + static_cast<std::ptrdiff_t>(values.size() * rank()));
    do_all_gather(call, gsl::as_writable_bytes(gsl::span<double>(all)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        // Of one rank, too, a logical_or is 0 or 1.
        double result = reduction == Reduction::logical_or ? combine(all[i], 0.0, reduction) : all[i];
        for (std::size_t other = 1; other < size(); ++other) {
            result = combine(result, all[other * values.size() + i], reduction);
        }
        values[i] = result;
    }
}

std::shared_ptr<Communicator> Communicator::split(std::size_t colour) {
    return do_split({.operation = "split"}, colour);
}

CommunicatorPtr single_rank() { return std::make_shared<SingleRank>(); }

std::vector<std::size_t> partition_sizes(std::size_t elements, std::size_t ranks) {
    const std::size_t part = elements / ranks + (elements % ranks != 0 ? 1 : 0);
    std::vector<std::size_t> sizes(ranks, 0);
    std::size_t left = elements;
    for (std::size_t& size : sizes) {
        size = std::min(part, left);
        left -= size;
    }
    return sizes;
}

}  // namespace pinwarden::zero
