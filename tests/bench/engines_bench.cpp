// SPDX-License-Identifier: Apache-2.0
// What moves and steps an engine's states, against the bandwidth of the host's memory.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/pool/pinned_pool.hpp>
#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/offloadable_state.hpp>

#include "bench.hpp"
#include "comparison.hpp"

namespace pinwarden::bench {
namespace {

constexpr std::size_t state_bytes = std::size_t{1} << 30;
constexpr std::size_t elements = std::size_t{1} << 24;

// Both ways once, as an engine does it with its pool warm.
void offload_and_reload(benchmark::State& state) {
    const auto stream = make_cpu_accelerator()->create_stream("states");
    auto block = zero::OffloadableState::on_device(state_bytes, stream, "state");
    const PinOptions options{.backend = std::make_shared<PinnedPool>(native_backend(), 2 * state_bytes)};
    for (auto _ : state) {
        block.commit(block.prepare_offload(options, Site::current()));
        block.commit(block.prepare_reload());
        stream->synchronize();
    }
}

void copy_there_and_back(benchmark::State& state) {
    std::vector<std::byte> first(state_bytes, std::byte{1});
    std::vector<std::byte> second(state_bytes, std::byte{2});
    for (auto _ : state) {
        std::memcpy(second.data(), first.data(), state_bytes);
        benchmark::ClobberMemory();
        std::memcpy(first.data(), second.data(), state_bytes);
        benchmark::ClobberMemory();
    }
}

// Reads four arrays and writes three, 28 bytes an element, as Adam does.
void triad(benchmark::State& state) {
    std::vector<float> hp(elements, 1.0F);
    std::vector<float> exp_avg(elements, 1.0F);
    std::vector<float> exp_avg_sq(elements, 1.0F);
    const std::vector<float> gradients(elements, 0.5F);
    for (auto _ : state) {
        float* const a = hp.data();
        float* const b = exp_avg.data();
        float* const c = exp_avg_sq.data();
        const float* const g = gradients.data();
        for (std::size_t i = 0; i != elements; ++i) {
            a[i] = a[i] + 0.5F * g[i];
            b[i] = b[i] + 0.5F * g[i];
            c[i] = c[i] + 0.5F * g[i];
        }
        benchmark::ClobberMemory();
    }
}

void step_adam(benchmark::State& state) {
    std::vector<float> hp(elements, 1.0F);
    std::vector<float> exp_avg(elements, 1.0F);
    std::vector<float> exp_avg_sq(elements, 1.0F);
    const std::vector<float> gradients(elements, 0.5F);
    std::int64_t step = 0;
    for (auto _ : state) {
        zero::adam_update(++step, {}, {.hp = hp, .exp_avg = exp_avg, .exp_avg_sq = exp_avg_sq}, gradients);
        benchmark::ClobberMemory();
    }
}

}  // namespace

void add_engines() {
    compare({.what = "offload and reload 1 GiB, pins warm",
             .baseline = "two memcpy",
             .least_ratio = 0.9,
             .repetitions = 5},
            copy_there_and_back, offload_and_reload);
    compare({.what = "host Adam, 16 Mi elements", .baseline = "triad over the same bytes", .least_ratio = 0.85}, triad,
            step_adam);
}

}  // namespace pinwarden::bench
