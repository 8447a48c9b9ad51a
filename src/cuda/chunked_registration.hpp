// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The registration of whole pages with the devices, in pieces.
///
/// Recent drivers refuse one call for half a tebibyte or more, and some kernels one for two gibibytes, so a
/// range is registered in chunks. It is registered as a whole or not at all, and taken back by the exact
/// addresses that were registered: both calls cut the same range in the same places.

#include <cstddef>
#include <optional>
#include <string>

#include <sys/mman.h>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

#include "backend/device_registrar.hpp"
#include "cuda/runtime.hpp"

namespace pinwarden::cuda::detail {

using pinwarden::detail::PageRange;

/// Stateless but for its table; thread-safe.
class PINWARDEN_API ChunkedRegistration {
public:
    using Advise = int (*)(void* address, std::size_t bytes, int advice) noexcept;

    static constexpr std::size_t chunk_bytes = ChunkedRanges::chunk_bytes;

    /// Why a range was not registered. Plain, so that a failure needs no memory to be dealt with.
    struct Refusal {
        PageRange range;      ///< of the call that was refused
        Outcome outcome{};    ///< its answer; ok if the call was madvise()
        int code = 0;         ///< the CUDA runtime's error code, or the `errno` of madvise()
        PageRange earlier{};  ///< what was registered before and had to be taken back
        Outcome undone{};     ///< how that went

        /// Whether the device still holds some of the pages: none of them may ever be freed.
        [[nodiscard]] bool is_stuck() const noexcept { return !undone.ok() && !undone.unloading(); }
    };

    explicit ChunkedRegistration(const Runtime& runtime, Advise advise = &::madvise) noexcept
        : runtime_(runtime), advise_(advise) {}

    [[nodiscard]] bool is_usable() const noexcept { return runtime_.is_usable(); }

    /// Registers `pages` for all devices, after it has kept `not_inherited`, a part of them, from children of
    /// fork().
    /// @returns why not, or nothing if it is done.
    [[nodiscard]] std::optional<Refusal> add(PageRange pages, PageRange not_inherited) const noexcept;

    /// Takes all chunks back. Goes on behind a chunk that fails, and answers the first failure.
    [[nodiscard]] UnpinAnswer remove(PageRange pages, PageRange not_inherited) const noexcept;

    /// The call that was refused, with its arguments, and what it answered.
    [[nodiscard]] std::string call_text(const Refusal& refusal) const;
    [[nodiscard]] std::string answer_text(const Refusal& refusal) const;

private:
    [[nodiscard]] Refusal roll_back(Refusal refusal, PageRange not_inherited) const noexcept;
    [[nodiscard]] Outcome remove_chunks(PageRange pages) const noexcept;
    [[nodiscard]] bool has_advised(PageRange pages, int advice) const noexcept;

    const Runtime& runtime_;
    const Advise advise_;
};

}  // namespace pinwarden::cuda::detail
