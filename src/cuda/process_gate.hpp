// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Whether the CUDA runtime may still be called.
///
/// It may not once exit has begun, when even the query of an event can crash, nor in the child of a fork()
/// whose parent has used it. Whoever finds the gate closed treats the runtime as unloading: it takes all it
/// holds with it.

#include <atomic>
#include <cstdint>

#include <pinwarden/core/export.hpp>

namespace pinwarden::cuda::detail {

/// Open until closed, and never open again. Thread-safe and constant-initialised.
class PINWARDEN_API ProcessGate {
public:
    enum class State : std::uint8_t { open, exiting, forked };

    [[nodiscard]] bool is_open() const noexcept {
        return state_.load(std::memory_order_acquire) == State::open;
    }

    void close(State why) noexcept { state_.store(why, std::memory_order_release); }

    /// Why it is closed, in words that complete "the CUDA runtime must not be called: ".
    [[nodiscard]] const char* reason() const noexcept;

private:
    std::atomic<State> state_{State::open};
};

/// This process's gate. It does not close by itself before arm_process_gate() was called.
[[nodiscard]] PINWARDEN_API ProcessGate& process_gate() noexcept;

/// Makes exit and fork close the gate. To be called after the driver was initialised, so that the gate closes
/// before the driver's own exit handlers run; further calls do nothing.
PINWARDEN_API void arm_process_gate() noexcept;

}  // namespace pinwarden::cuda::detail
