// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// *How* host memory is pinned: the one interface through which pages are locked and unlocked.
///
/// Users choose a backend and hand it to a handle; they never call it themselves. What a backend answers is kept in
/// the block, and release goes back to the same backend with the same facts: no flag, configuration or environment
/// is read on the way out.
///
/// Implementations: native_backend.hpp (pages from the kernel, locked by the kernel), pageable_backend.hpp (no pin
/// at all, behind the same interface) and scripted_backend.hpp (fails on demand, for tests).

#include <cstddef>
#include <memory>
#include <string_view>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

namespace audit {
class BlockCache;
}

/// Memory that a backend handed out, or that it pinned for somebody else.
struct HostBlock {
    std::byte* address = nullptr;  ///< first byte that was asked for
    std::size_t bytes = 0;         ///< bytes that were asked for, exactly
    std::size_t locked_bytes = 0;  ///< bytes that are locked for it, whole pages; 0 if nothing is locked
    bool device_pinned = false;    ///< whether it was registered with the devices; release goes by it
    bool own_pages = false;        ///< whole pages from the kernel, which no memory tool knows of by itself
};

/// The three answers to an unpin.
enum class UnpinStatus {
    done,       ///< the memory is unpinned and, if the backend allocated it, given back
    unloading,  ///< the runtime that holds the pin is going away and takes the pin with it
    failed,     ///< the memory is still pinned and must be neither freed nor reused
};

/// An unpin's status and, if it failed, the call and its error code.
struct UnpinAnswer {
    UnpinStatus status = UnpinStatus::done;
    const char* call = "";  ///< name of the call that failed; a string literal
    int code = 0;           ///< `errno` or the driver's error code
};

/// Locks and unlocks host memory. All functions are thread-safe.
class PINWARDEN_API PinBackend {
public:
    PinBackend() = default;
    PinBackend(const PinBackend&) = delete;
    PinBackend& operator=(const PinBackend&) = delete;
    virtual ~PinBackend();

    /// The name by which configurations, records and reports know this backend; lives as long as the program.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Whether its blocks are page-locked at all.
    [[nodiscard]] virtual bool pins() const noexcept = 0;

    /// Allocates and pins `bytes`, at least one, aligned to a page.
    /// @throws PinError if that is refused; nothing is held then.
    [[nodiscard]] virtual HostBlock allocate(std::size_t bytes) = 0;

    /// Unpins and gives back a block of allocate().
    [[nodiscard]] virtual UnpinAnswer deallocate(const HostBlock& block) noexcept = 0;

    /// Pins the whole pages that hold the `bytes` from `address`; the memory stays its owner's.
    /// @throws PinError if that is refused; nothing is pinned then.
    [[nodiscard]] virtual HostBlock register_memory(std::byte* address, std::size_t bytes) = 0;

    /// Unpins a block of register_memory().
    [[nodiscard]] virtual UnpinAnswer unregister_memory(const HostBlock& block) noexcept = 0;

    /// Whether an accelerator can reach `block` by direct memory access, at full speed and without blocking: what
    /// the block says of itself, unless a backend knows better.
    [[nodiscard]] virtual bool is_device_pinned(const HostBlock& block) const noexcept;

    /// Where handles look for blocks to reuse; null for all backends but the pool.
    [[nodiscard]] virtual audit::BlockCache* cache() noexcept;
};

/// Shared ownership of a backend: every block keeps the backend alive that has to release it.
using PinBackendPtr = std::shared_ptr<PinBackend>;

}  // namespace pinwarden
