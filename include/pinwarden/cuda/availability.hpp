// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Whether this machine has a CUDA device, and if not, why.
///
/// The CUDA runtime is linked into the library, so a program built with it runs anywhere; without a driver it
/// answers error 35 (insufficient driver), without a device error 100, and both mean "no accelerator".
///
/// ```
/// const auto& cuda = pinwarden::cuda::availability();
/// auto accelerator = cuda.devices > 0 ? pinwarden::cuda::make_cuda_accelerator(0) :
/// pinwarden::make_cpu_accelerator();
/// ```

#include <string>

#include <pinwarden/core/export.hpp>

namespace pinwarden::cuda {

/// What the driver answered when it was asked for devices.
struct Availability {
    int devices = 0;     ///< they are numbered from 0
    std::string reason;  ///< why there is none: the call, its answer and what to do; empty otherwise
};

/// Asked once, at the first call, and the same ever after. Makes no context on any device. Thread-safe.
[[nodiscard]] PINWARDEN_API const Availability& availability();

}  // namespace pinwarden::cuda
