// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the CUDA part of a build, which lies above this layer, offers to it.
///
/// Implemented once per build: by src/cuda/cuda_support.cpp where the toolkit is used, by without_cuda.cpp
/// where not.

#include <pinwarden/backend/selection.hpp>

#include "backend/device_registrar.hpp"

namespace pinwarden::detail {

/// The backend over the CUDA runtime, or why there is none. The first call looks for a driver.
[[nodiscard]] PINWARDEN_API CudaAvailability cuda_availability();

/// The registrar for the native backend's pages; null in a build without. Never destroyed. Asks no device
/// itself.
[[nodiscard]] PINWARDEN_API DeviceRegistrar* device_registrar() noexcept;

}  // namespace pinwarden::detail
