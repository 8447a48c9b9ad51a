// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// An accelerator made of threads: real asynchronous streams and memory accounting of its own, on any machine.
///
/// Each stream is a queue with one worker thread, so work on one stream runs in order and work on several streams at
/// once. Its memory is ordinary host memory, so `Stream::launch` works; it is accounted apart, up to a capacity.

#include <cstddef>
#include <memory>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/process_memory.hpp>

namespace pinwarden {

struct CpuAcceleratorOptions {
    std::size_t capacity_bytes = unlimited_bytes;  ///< allocations beyond it throw AcceleratorError
};

/// Makes a CPU accelerator. Its streams and buffers keep what they need of it alive.
[[nodiscard]] PINWARDEN_API AcceleratorPtr make_cpu_accelerator(CpuAcceleratorOptions options = {});

}  // namespace pinwarden
