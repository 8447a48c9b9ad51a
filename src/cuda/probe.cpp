// SPDX-License-Identifier: Apache-2.0
#include "cuda/probe.hpp"

#include <fmt/format.h>

#include "core/published.hpp"

namespace pinwarden::cuda {
namespace detail {
namespace {

// What to do about an answer; the caller's text goes on behind it.
const char* advice(cudaError_t code) {
    switch (code) {
        case cudaErrorInsufficientDriver:
            return "which means that there is no NVIDIA driver here, or one too old for this build: install "
                   "a newer "
                   "one, or give the container the device (`--gpus`)";
        case cudaErrorStubLibrary:
            return "which means that the toolkit's stub was found in place of the driver: take its folder "
                   "out of "
                   "LD_LIBRARY_PATH";
        case cudaErrorNoDevice:
            return "which means that the driver shows no device: look at CUDA_VISIBLE_DEVICES";
        default: return "so no device can be used";
    }
}

}  // namespace

Availability probe(const Runtime& runtime) {
    int devices = 0;
    const Outcome outcome = runtime.call(runtime.calls().get_device_count, &devices);
    if (!outcome.ok()) {
        return {.devices = 0,
                .reason = fmt::format("{}, {}", runtime.describe(outcome), advice(outcome.code))};
    }
    if (devices <= 0) {
        return {.devices = 0,
                .reason = fmt::format("{} counts no device: look at CUDA_VISIBLE_DEVICES", outcome.call)};
    }
    return {.devices = devices, .reason = {}};
}

}  // namespace detail

const Availability& availability() {
    static constinit pinwarden::detail::Published<Availability> answer;
    return answer.get_or([] {
        Availability found = detail::probe(detail::process_runtime());
        detail::arm_process_gate();
        return found;
    });
}

}  // namespace pinwarden::cuda
