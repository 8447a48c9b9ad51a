// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A run in numbers, for programs to read.

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinwarden::command {

/// Locked memory of the process at three moments, as the kernel says.
struct KernelLocked {
    std::size_t before = 0;
    std::size_t peak = 0;
    std::size_t after = 0;
};

/// What `--summary` writes.
struct Summary {
    std::uint64_t steps = 0;            ///< that were run, skipped ones included
    double loss_first = 0.0;            ///< of the first step, nats per character
    double loss_last = 0.0;             ///< of the last one
    double unigram_entropy = 0.0;       ///< nats per character
    std::size_t peak_pinned_bytes = 0;  ///< locked for pins at one time, at most
    KernelLocked vmlck_bytes{};           ///< written in KiB, the kernel's unit
    std::size_t live_pins = 0;          ///< after destroy()
    std::string backend{};
};

/// One JSON object: `steps`, `loss_first`, `loss_last`, `unigram_entropy`, `peak_pinned_bytes`, `vmlck_kib`
/// with `before`, `peak` and `after`, `live_pins`, `backend`. A loss that is not finite is `null`: JSON has
/// no name for it.
[[nodiscard]] std::string to_json(const Summary& summary);

}  // namespace pinwarden::command
