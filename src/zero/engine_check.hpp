// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What an engine demands of its configuration, which may have been filled in by hand.

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/zero/engine.hpp>

namespace pinwarden::zero {

/// @throws EngineError
void require_valid_engine(const Config& config, const EngineOptions& options,
                          const AcceleratorPtr& accelerator, const Communicator& ranks);

}  // namespace pinwarden::zero
