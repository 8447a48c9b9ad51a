// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Pins memory that somebody else owns, for as long as the registration lives.
///
/// The kernel locks whole pages and does not count locks, so two registrations that share a page would unlock each
/// other. The registration therefore covers every page that holds one of the bytes, and a range that touches a page
/// that is pinned already is rejected.
///
/// ```
/// std::vector<float> weights = load();
/// pinwarden::PinnedRegistration pinned(weights, {.label = "weights"});   // destroy it before `weights`
/// ```
/// It does not own the memory: destroy it first.

#include <cstddef>
#include <utility>

#include <gsl/span>

#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/own/pinned_handle.hpp>

namespace pinwarden {

/// A move-only owner of a pin, not of the memory. Moved-from equals empty. As thread-safe as `std::unique_ptr`.
class [[nodiscard]] PinnedRegistration : public PinnedHandle {
public:
    /// An empty registration that pins nothing.
    PinnedRegistration() noexcept = default;

    /// Pins `memory`; an empty span, or `Pinning::pageable`, is valid and pins nothing.
    /// @throws OverlapError if one of its pages is pinned already, PinError if pinning is refused. Nothing is pinned
    ///         then.
    template <HostElement T>
    [[nodiscard]] explicit PinnedRegistration(gsl::span<T> memory, const PinOptions& options = {},
                                              Site site = Site::current())
        : PinnedHandle(
              detail::Pin::adopt(reinterpret_cast<std::byte*>(memory.data()), memory.size_bytes(), options, site)) {}

    /// The first byte registered; null if empty.
    [[nodiscard]] const std::byte* address() const noexcept { return pin().address(); }

    /// Bytes registered; locked_bytes() are whole pages.
    [[nodiscard]] std::size_t size_bytes() const noexcept { return pin().bytes(); }

    /// Unpins now, after waiting for the recorded uses: the memory's owner may free it next.
    void reset() noexcept {
        wait();
        drop_pin();
    }

    PinnedRegistration(PinnedRegistration&&) noexcept = default;
    PinnedRegistration& operator=(PinnedRegistration&& other) noexcept {
        PinnedRegistration taken(std::move(other));
        swap_pin(taken);
        return *this;
    }
    ~PinnedRegistration() { reset(); }
};

}  // namespace pinwarden
