// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The way to the CUDA runtime: every call goes through here.
///
/// A call is refused as "unloading" once the gate is closed. A call that failed has its own error cleared
/// from the thread's memory of the last one, and never an error that somebody else has yet to look at. A call
/// for a device is made with that device current, and the thread's own choice is restored after it.

#include <atomic>
#include <string>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

#include "cuda/chunked_ranges.hpp"
#include "cuda/process_gate.hpp"
#include "cuda/runtime_calls.hpp"

namespace pinwarden::cuda::detail {

/// What a call answered, and which one it was.
struct Outcome {
    cudaError_t code = cudaSuccess;
    const char* call = "";

    [[nodiscard]] bool ok() const noexcept { return code == cudaSuccess; }

    /// Whether the runtime or the context is going away, and takes what it holds with it.
    [[nodiscard]] bool unloading() const noexcept {
        return code == cudaErrorCudartUnloading || code == cudaErrorContextIsDestroyed;
    }
};

/// A table of calls behind a gate. Thread-safe; streams, events and backends made over it must not outlive
/// it.
class PINWARDEN_API Runtime {
public:
    Runtime(const RuntimeCalls& calls, const ProcessGate& gate) noexcept : calls_(calls), gate_(gate) {}
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    [[nodiscard]] bool is_usable() const noexcept { return gate_.is_open(); }
    [[nodiscard]] const RuntimeCalls& calls() const noexcept { return calls_; }

    /// Calls one entry of the table, as in `call(runtime.calls().free_host, address)`.
    template <typename... Parameters, typename... Arguments>
    [[nodiscard]] Outcome call(const RuntimeCall<Parameters...>& entry,
                               Arguments... arguments) const noexcept {
        if (!is_usable()) return {cudaErrorCudartUnloading, entry.name};
        const cudaError_t before = calls_.peek_at_last_error();
        const cudaError_t answer = entry.function(arguments...);
        if (answer != cudaSuccess) clear_own(answer, before);
        return {answer, entry.name};
    }

    /// The same with `device` current.
    template <typename... Parameters, typename... Arguments>
    [[nodiscard]] Outcome call_on(int device, const RuntimeCall<Parameters...>& entry,
                                  Arguments... arguments) const noexcept {
        const Switch guard(*this, device);
        return guard.outcome().ok() ? call(entry, arguments...) : guard.outcome();
    }

    /// The device whose context holds all host memory pinned through this runtime: that of the first
    /// accelerator, or else the one that was current when something was first pinned. A thread that pins, and
    /// has never chosen a device, would otherwise make a context on device 0.
    [[nodiscard]] int home_device() const noexcept;

    /// Makes `device` the home unless there is one.
    void offer_home(int device) const noexcept;

    /// The host memory that was registered through this runtime in several pieces.
    [[nodiscard]] ChunkedRanges& chunked_ranges() const noexcept { return chunked_ranges_; }

    /// `cudaFreeHost answered cudaErrorInvalidValue (1): invalid argument`.
    [[nodiscard]] std::string describe(const Outcome& outcome) const;

    /// The part behind `answered`, for a text that names `call` already: with the call's name only if it is
    /// another, one that was needed to make it.
    [[nodiscard]] std::string describe_answer_to(const char* call, const Outcome& outcome) const;

private:
    // Makes a device current as long as it lives, if it is not anyway.
    class PINWARDEN_API Switch {
    public:
        Switch(const Runtime& runtime, int device) noexcept;
        Switch(const Switch&) = delete;
        Switch& operator=(const Switch&) = delete;
        ~Switch();

        [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }

    private:
        const Runtime& runtime_;
        int previous_ = 0;
        bool switched_ = false;
        Outcome outcome_;
    };

    [[nodiscard]] std::string describe_code(cudaError_t code) const;
    void clear_own(cudaError_t answer, cudaError_t before) const noexcept;

    const RuntimeCalls& calls_;
    const ProcessGate& gate_;
    mutable ChunkedRanges chunked_ranges_;
    mutable std::atomic<int> home_{-1};
    mutable std::atomic<bool> reported_restore_{false};
};

/// What `outcome`, of a call that was to release host memory, means for that memory.
[[nodiscard]] PINWARDEN_API UnpinAnswer unpin_answer(const Outcome& outcome) noexcept;

/// The runtime of this process, over the CUDA runtime's own calls; never destroyed.
[[nodiscard]] PINWARDEN_API Runtime& process_runtime() noexcept;

}  // namespace pinwarden::cuda::detail
