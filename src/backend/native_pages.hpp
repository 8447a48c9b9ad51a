// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

#include "backend/device_registrar.hpp"
#include "backend/kernel_calls.hpp"

namespace pinwarden::detail {

/// The native backend over a table of system calls and, where there are devices, their registrar; native_backend() is
/// the one over the kernel's own and the machine's.
class PINWARDEN_API NativePages final : public PinBackend {
public:
    explicit NativePages(const KernelCalls& calls, DeviceRegistrar* registrar = nullptr) noexcept
        : calls_(calls), registrar_(registrar) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "native"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override;
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override;

private:
    std::byte* map(std::size_t length, std::size_t asked);
    void lock(std::byte* first, std::size_t length, std::size_t asked);
    [[nodiscard]] bool register_with_device(PageRange pages, PageRange not_inherited, std::size_t asked);
    [[nodiscard]] UnpinAnswer unregister_from_device(PageRange pages, PageRange not_inherited) noexcept;

    KernelCalls calls_;
    DeviceRegistrar* registrar_;  // null where no device is to be had
};

}  // namespace pinwarden::detail
