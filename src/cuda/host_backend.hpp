// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string_view>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

#include "cuda/chunked_registration.hpp"
#include "cuda/runtime.hpp"

namespace pinwarden::cuda::detail {

/// The backend `cuda` over a table of runtime calls; cuda_backend() is the one over the runtime's own.
class PINWARDEN_API HostBackend final : public PinBackend {
public:
    HostBackend(const Runtime& runtime, ChunkedRegistration registration) noexcept
        : runtime_(runtime), registration_(registration) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "cuda"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override;
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override;

private:
    using Bases = std::map<const std::byte*, void*>;

    [[nodiscard]] void* host_alloc(std::size_t length, std::size_t asked) const;
    [[nodiscard]] Outcome free_host(void* base) const noexcept;
    [[nodiscard]] HostBlock allocate_with_margin(std::size_t bytes, std::size_t length);
    [[nodiscard]] void* base_of(const HostBlock& block) noexcept;

    const Runtime& runtime_;
    const ChunkedRegistration registration_;
    std::mutex mutex_;
    Bases bases_;  // of blocks that do not start where the runtime's memory does
};

}  // namespace pinwarden::cuda::detail
