// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The owner of one event of the CUDA runtime.

#include <cstdint>

#include <pinwarden/core/export.hpp>

#include "cuda/runtime.hpp"

namespace pinwarden::cuda::detail {

/// An event recorded on a stream of its own device, at the moment it was made. Move-only; moved-from equals
/// empty.
class PINWARDEN_API DeviceEvent {
public:
    enum class State : std::uint8_t {
        complete,   ///< the work ahead of it is finished
        running,
        abandoned,  ///< the runtime is going away: nobody will ever know
        unknown,    ///< the query failed; nobody may assume that the work is finished
    };

    DeviceEvent() noexcept = default;

    /// Makes an event and records it; `failure` tells why the result is empty.
    [[nodiscard]] static DeviceEvent record(const Runtime& runtime, int device, cudaStream_t stream,
                                            Outcome& failure) noexcept;

    DeviceEvent(DeviceEvent&& other) noexcept;
    DeviceEvent& operator=(DeviceEvent&& other) noexcept;
    ~DeviceEvent();

    [[nodiscard]] bool is_empty() const noexcept { return event_ == nullptr; }

    /// Asks the device. `failure` is set if the state is unknown.
    /// @pre it is not empty
    [[nodiscard]] State query(Outcome& failure) const noexcept;

private:
    DeviceEvent(const Runtime& runtime, int device, cudaEvent_t event) noexcept
        : runtime_(&runtime), device_(device), event_(event) {}

    const Runtime* runtime_ = nullptr;
    int device_ = 0;
    cudaEvent_t event_ = nullptr;
};

}  // namespace pinwarden::cuda::detail
