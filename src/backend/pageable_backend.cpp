// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/pageable_backend.hpp>

#include "core/immortal.hpp"
#include "backend/refusal.hpp"

#include <pinwarden/core/bytes.hpp>

#include <cerrno>
#include <new>

#include <fmt/format.h>

namespace pinwarden {
namespace {

class PageableMemory final : public PinBackend {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "pageable"; }
    [[nodiscard]] bool pins() const noexcept override { return false; }

    [[nodiscard]] HostBlock allocate(std::size_t bytes) override {
        void* const memory = ::operator new(bytes, alignment(), std::nothrow);
        if (memory == nullptr) {
            throw detail::refused(name(), fmt::format("operator new({} bytes)", bytes), "no memory", ENOMEM, bytes,
                                  "free memory or ask for less");
        }
        return {static_cast<std::byte*>(memory), bytes, 0};
    }

    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override {
        ::operator delete(block.address, alignment());
        return {};
    }

    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        return {address, bytes, 0};
    }

    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock&) noexcept override { return {}; }

private:
    static std::align_val_t alignment() noexcept { return std::align_val_t{page_bytes()}; }
};

}  // namespace

PinBackendPtr pageable_backend() noexcept {
    static detail::Immortal<PageableMemory> instance;
    return PinBackendPtr(PinBackendPtr(), &instance.get());  // shares nothing, so it costs no counting
}

}  // namespace pinwarden
