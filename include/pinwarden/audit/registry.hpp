// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The process-wide audit of all pins: how many there are, whose they are, and what holds a given address.
///
/// Handles write it, everybody may read it, at any time and from any thread. A handle's slot is reserved before it
/// pins, filled after it, and erased before the memory can be handed out again, so no record ever names memory that is
/// somebody else's.
///
/// Cost: a pin and its unpin together about a hundred nanoseconds; counts() and find() do not depend on the number
/// of pins; snapshot() is linear.
///
/// ```
/// const auto& registry = pinwarden::audit::Registry::instance();
/// assert(registry.counts().live.pins == 0);
/// ```

#include <cstddef>
#include <optional>
#include <vector>

#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// The registry of all pins of this process. Constant-initialised and never destroyed. Thread-safe.
class PINWARDEN_API Registry {
public:
    [[nodiscard]] static const Registry& instance() noexcept;

    /// The pins of the process by state.
    [[nodiscard]] Counts counts() const noexcept;

    /// The largest number of bytes that were locked at one time, since the start or the last reset_peak().
    [[nodiscard]] std::size_t peak_locked_bytes() const noexcept;

    /// Starts the peak anew from what is locked now, to measure a part of a run.
    void reset_peak() const noexcept;

    /// A copy of every record, pageable blocks in flight included, in the order of their addresses.
    /// @throws std::bad_alloc
    [[nodiscard]] std::vector<PinRecord> snapshot() const;

    /// The pin that holds `address`, its first byte or any other that was asked for.
    /// @throws std::bad_alloc
    [[nodiscard]] std::optional<PinRecord> find(const void* address) const;

    /// How often `Pinning::prefer_pinned` fell back to pageable memory.
    [[nodiscard]] Tally fallbacks() const noexcept;

    /// Releases the blocks in flight whose copies have completed. Handles do this in passing whenever they pin or
    /// unpin; a program that has gone quiet may ask for it.
    void collect() const noexcept;

    Registry(const Registry&) = delete;
    Registry& operator=(const Registry&) = delete;

private:
    constexpr Registry() noexcept = default;
};

}  // namespace pinwarden::audit
