// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the native backend asks of a device runtime: to register locked pages, so that the device reaches
/// them by direct memory access. The backend itself knows no runtime.

#include <cstddef>
#include <cstdint>

#include <pinwarden/backend/device_registration.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::detail {

/// Consecutive bytes; whole pages wherever this layer speaks of pages.
struct PageRange {
    std::byte* first = nullptr;
    std::size_t length = 0;
};

/// The pages that hold a byte of these.
[[nodiscard]] PINWARDEN_API PageRange pages_touching(std::byte* address, std::size_t bytes) noexcept;

/// The pages that hold nothing but these bytes; none is a valid answer.
[[nodiscard]] PINWARDEN_API PageRange pages_within(std::byte* address, std::size_t bytes) noexcept;

/// Registers pages with the devices of the machine. Thread-safe.
class PINWARDEN_API DeviceRegistrar {
public:
    enum class Outcome : std::uint8_t {
        registered,  ///< all of it
        refused,     ///< none of it; status() keeps the reason
        stuck,  ///< refused, and a part already registered could not be taken back: it must never be freed
    };

    DeviceRegistrar() = default;
    DeviceRegistrar(const DeviceRegistrar&) = delete;
    DeviceRegistrar& operator=(const DeviceRegistrar&) = delete;
    virtual ~DeviceRegistrar();

    /// Registers `pages` with all devices and keeps `not_inherited`, a part of them, from the children of
    /// fork(): a child that writes to a page would take it away from under the device.
    [[nodiscard]] virtual Outcome register_pages(PageRange pages, PageRange not_inherited) noexcept = 0;

    /// Takes back a registration with exactly these ranges.
    [[nodiscard]] virtual UnpinAnswer unregister_pages(PageRange pages, PageRange not_inherited) noexcept = 0;

    /// How the registrations went so far.
    [[nodiscard]] virtual DeviceRegistrationStatus status() const = 0;
};

}  // namespace pinwarden::detail
