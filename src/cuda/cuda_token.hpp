// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/export.hpp>

#include "cuda/device_event.hpp"
#include "cuda/runtime.hpp"
#include "cuda/stream_identity.hpp"

namespace pinwarden::cuda::detail {

/// A point in a CUDA stream: an event recorded when the token was made.
///
/// An event that cannot be asked counts as running for good, so its memory is never released, and that is
/// reported. Once the runtime is unloading every event counts as complete, and as abandoned: what it still
/// does, it does to memory that stays.
class PINWARDEN_API CudaToken final : public CompletionToken {
public:
    /// @throws AcceleratorError if the event cannot be made or recorded, std::bad_alloc.
    CudaToken(const Runtime& runtime, int device, cudaStream_t stream,
              std::shared_ptr<StreamIdentity> identity);

    [[nodiscard]] bool is_complete() const noexcept override;
    [[nodiscard]] bool is_abandoned() const noexcept override {
        return is_abandoned_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const noexcept override;
    [[nodiscard]] std::uint64_t queue() const noexcept override { return identity_->id; }
    [[nodiscard]] std::string queue_name() const override { return identity_->name; }

private:
    void report(const Outcome& failure) const noexcept;

    const Runtime& runtime_;
    const std::shared_ptr<StreamIdentity> identity_;
    DeviceEvent event_;
    mutable std::atomic<bool> is_complete_{false};
    mutable std::atomic<bool> is_abandoned_{false};
};

}  // namespace pinwarden::cuda::detail
