// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// An accelerator made of threads: real asynchronous streams and memory accounting of its own, on any
/// machine.
///
/// Each stream is a queue with one worker thread, so work on one stream runs in order and work on several
/// streams at once. Its memory is ordinary host memory, so `Stream::launch` works; it is accounted apart, up
/// to a capacity.
///
/// A copy reads and writes the host's memory when its turn comes, as a device does with pinned memory, never
/// when it is queued. After `fork` a stream of the parent refuses work in the child, and its destruction
/// there does nothing.
///
/// Cost: one thread per stream; a queued call takes a lock and an allocation.
///
/// ```
/// const auto accelerator = pinwarden::make_cpu_accelerator({.capacity_bytes = std::size_t{1} << 30});
/// const auto stream = accelerator->create_stream("copies");
/// ```

#include <cstddef>
#include <memory>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/process_memory.hpp>

namespace pinwarden {

/// What make_cpu_accelerator() may be told.
struct CpuAcceleratorOptions {
    std::size_t capacity_bytes = unlimited_bytes;  ///< allocations beyond it throw AcceleratorError; so do
                                                   ///< those beyond what the machine has
};

/// Makes a CPU accelerator. Its streams and buffers keep what they need of it alive.
[[nodiscard]] PINWARDEN_API AcceleratorPtr make_cpu_accelerator(CpuAcceleratorOptions options = {});

}  // namespace pinwarden
