// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The native backend's registrar over the CUDA runtime.

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include <pinwarden/core/export.hpp>
#include <pinwarden/cuda/availability.hpp>

#include "backend/device_registrar.hpp"
#include "cuda/chunked_registration.hpp"

namespace pinwarden::cuda::detail {

/// Looks for devices at its first use and not before. Thread-safe; no mutex is held over a driver call.
class PINWARDEN_API PageRegistrar final : public pinwarden::detail::DeviceRegistrar {
public:
    /// Asks `availability` at each use, which should remember its answer.
    PageRegistrar(ChunkedRegistration registration, std::function<const Availability&()> availability)
        : registration_(registration), availability_(std::move(availability)) {}

    [[nodiscard]] Outcome register_pages(PageRange pages, PageRange not_inherited) noexcept override;
    [[nodiscard]] UnpinAnswer unregister_pages(PageRange pages, PageRange not_inherited) noexcept override;
    [[nodiscard]] DeviceRegistrationStatus status() const override;

private:
    void note_refusal(const ChunkedRegistration::Refusal& refusal, PageRange pages) noexcept;

    const ChunkedRegistration registration_;
    const std::function<const Availability&()> availability_;
    std::atomic<bool> has_no_device_{false};
    mutable std::mutex mutex_;
    DeviceRegistrationStatus status_;
};

}  // namespace pinwarden::cuda::detail
