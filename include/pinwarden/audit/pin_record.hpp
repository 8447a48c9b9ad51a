// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the audit knows of one pin, and how it adds pins up.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>

namespace pinwarden::audit {

/// Where a pin stands. A leak is a *live* pin whose owner has been destroyed.
enum class PinState : std::uint8_t {
    live,         ///< held by a handle
    cached,       ///< kept by a pool for reuse
    in_flight,    ///< its handle is gone, a copy still uses it
    quarantined,  ///< its unpin failed; the memory is kept on purpose and never reused
};

/// The name used in reports: `live`, `cached`, `in_flight`, `quarantined`.
[[nodiscard]] PINWARDEN_API std::string_view to_string(PinState state) noexcept;

/// A stream that a pin in flight waits for. Several streams may have the same name, none the same number.
struct StreamUse {
    std::uint64_t queue = 0;  ///< CompletionToken::queue()
    std::string name{};

    friend bool operator==(const StreamUse&, const StreamUse&) = default;
};

/// One pin, copied out of the registry.
struct PinRecord {
    const void* address = nullptr;     ///< first byte asked for
    std::size_t bytes = 0;             ///< bytes asked for
    std::size_t locked_bytes = 0;      ///< bytes the kernel counts for it
    PinState state = PinState::live;
    std::string backend{};             ///< name of the backend that pinned it and will unpin it
    std::string label{};               ///< the owner's name for it
    std::string scope{};               ///< the name of its scope; empty for none
    Site site{};                       ///< the line that asked for it
    std::thread::id thread{};          ///< the thread that asked for it
    std::chrono::nanoseconds age{};    ///< time since it was pinned
    std::string detail{};              ///< in flight: the streams it waits for; quarantined: the failed call
    std::vector<StreamUse> streams{};  ///< in flight: the streams it waits for, those that are done left out
    std::vector<const void*> stack{};  ///< where the calls that pinned it return to; empty unless stacks are captured
};

/// A number of pins and their bytes.
struct Tally {
    std::size_t pins = 0;
    std::size_t bytes = 0;         ///< asked for
    std::size_t locked_bytes = 0;  ///< counted by the kernel

    friend bool operator==(const Tally&, const Tally&) = default;
};

/// The four counts, always apart, and what the system took with it.
struct Counts {
    Tally live;
    Tally cached;
    Tally in_flight;
    Tally quarantined;
    Tally left_to_system;  ///< their runtime was unloading when they were released; not held any more

    /// The tally of one state.
    [[nodiscard]] PINWARDEN_API Tally& of(PinState state) noexcept;
    [[nodiscard]] PINWARDEN_API const Tally& of(PinState state) const noexcept;

    /// Bytes that are locked now, whatever the state: what the kernel should say too.
    [[nodiscard]] std::size_t locked_bytes() const noexcept {
        return live.locked_bytes + cached.locked_bytes + in_flight.locked_bytes + quarantined.locked_bytes;
    }

    friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace pinwarden::audit
