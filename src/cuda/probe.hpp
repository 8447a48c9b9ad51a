// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pinwarden/core/export.hpp>
#include <pinwarden/cuda/availability.hpp>

#include "cuda/runtime.hpp"

namespace pinwarden::cuda::detail {

/// Asks the driver for devices; any error means none. Makes no context.
[[nodiscard]] PINWARDEN_API Availability probe(const Runtime& runtime);

}  // namespace pinwarden::cuda::detail
