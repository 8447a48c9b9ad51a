// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <support/cuda/recording_runtime.hpp>

#include "cuda/process_gate.hpp"
#include "cuda/runtime.hpp"

namespace pinwarden::testing {

/// The library's way to the CUDA runtime, with the double in the place of the CUDA runtime. Declare it first:
/// what is made over it must not outlive it.
struct DoubleRuntime {
    explicit DoubleRuntime(int devices = 1) : driver(devices) {}

    RecordingRuntime driver;
    cuda::detail::ProcessGate gate{};
    cuda::detail::Runtime runtime{driver.calls(), gate};
};

}  // namespace pinwarden::testing
