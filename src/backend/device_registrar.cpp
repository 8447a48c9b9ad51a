// SPDX-License-Identifier: Apache-2.0
#include "backend/device_registrar.hpp"

#include "backend/cuda_support.hpp"

#include <pinwarden/core/bytes.hpp>

#include <cstdint>

namespace pinwarden {
namespace detail {
namespace {

std::size_t offset_in_page(const std::byte* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address) & (page_bytes() - 1);
}

}  // namespace

PageRange pages_touching(std::byte* address, std::size_t bytes) noexcept {
    // Cannot overflow for memory that exists.
    const std::size_t page = page_bytes();
    const std::size_t offset = offset_in_page(address);
    return {address - offset, (offset + bytes + page - 1) & ~(page - 1)};
}

PageRange pages_within(std::byte* address, std::size_t bytes) noexcept {
    const std::size_t page = page_bytes();
    const std::size_t offset = offset_in_page(address);
    const std::size_t head = offset == 0 ? 0 : page - offset;
    if (bytes < head + page) return {address, 0};
    return {address + head, (bytes - head) & ~(page - 1)};
}

DeviceRegistrar::~DeviceRegistrar() = default;

}  // namespace detail

DeviceRegistrationStatus device_registration_status() {
    if (const detail::DeviceRegistrar* const registrar = detail::device_registrar())
        return registrar->status();
    return {.last_refusal = "this build of Pinwarden was configured without the CUDA Toolkit"};
}

}  // namespace pinwarden
