// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A block of bytes that lives on the device or in host memory, and moves between them whole or not at all.
///
/// Moving takes two steps, so that several blocks can move together or not at all: prepare_offload() and
/// prepare_reload() allocate the new place and queue the copy, which may throw and changes nothing;
/// committing what they return cannot fail. A move that is dropped instead gives its memory back safely,
/// while its copy runs too.
///
/// ```
/// auto first = weights.prepare_offload({.label = "weights"}, site);
/// auto second = moments.prepare_offload({.label = "moments"}, site);   // may throw: nothing has moved
/// weights.commit(std::move(first));
/// moments.commit(std::move(second));
/// ```
/// A block whose home is the host never leaves it. A transient block, whose content nobody needs between two
/// uses, moves by being released and made anew. The block holds handles only; it knows no configuration.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/zero/offload_state.hpp>

namespace pinwarden::zero {

/// Move-only; moved-from equals empty: no bytes, on the device. As thread-safe as `std::unique_ptr`.
class [[nodiscard]] PINWARDEN_API OffloadableState {
public:
    /// The block's other place, with the copy into it queued.
    class [[nodiscard]] Move {
    public:
        /// No move: committing it changes nothing.
        Move() noexcept = default;

    private:
        friend class OffloadableState;
        std::optional<StateLocation> destination_;
        DeviceBuffer<std::byte> device_;
        PinnedBuffer<std::byte> host_;
    };

    /// An empty block.
    OffloadableState() noexcept = default;

    /// A block of unspecified content whose home is the device; none is a valid size. `label` is the name
    /// that its host memory carries in the audit.
    /// @throws AcceleratorError if the device has not enough memory.
    [[nodiscard]] static OffloadableState on_device(std::size_t bytes, StreamPtr stream, std::string label);

    /// A block of unspecified content whose home is host memory, acquired as `options` say.
    /// @throws as PinnedBuffer's constructor does.
    [[nodiscard]] static OffloadableState on_host(std::size_t bytes, StreamPtr stream,
                                                  const PinOptions& options, const Site& site);

    /// A block of zeros on the device, whose content is not kept when it moves: offloading gives its memory
    /// back and takes none on the host, reloading makes it anew, filled with zeros.
    /// @throws AcceleratorError if the device has not enough memory.
    [[nodiscard]] static OffloadableState transient(std::size_t bytes, StreamPtr stream, std::string label);

    OffloadableState(OffloadableState&& other) noexcept;
    OffloadableState& operator=(OffloadableState&& other) noexcept;
    ~OffloadableState() = default;

    [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
    [[nodiscard]] StateLocation home() const noexcept { return home_; }
    [[nodiscard]] StateLocation location() const noexcept { return location_; }
    [[nodiscard]] const std::string& label() const noexcept { return label_; }

    /// Whether it is in host memory that is page-locked; an empty block never is.
    [[nodiscard]] bool is_pinned() const noexcept { return host_.is_pinned(); }

    /// Queues a copy to new host memory. On the host already: no move. The label of `options` is ignored in
    /// favour of the block's own.
    /// @throws PinError, AcceleratorError, std::bad_alloc; nothing has changed then.
    [[nodiscard]] Move prepare_offload(PinOptions options, const Site& site) const;

    /// Queues a copy back to the device. At home already: no move.
    /// @throws AcceleratorError, std::bad_alloc; nothing has changed then.
    [[nodiscard]] Move prepare_reload() const;

    /// Makes the move's destination the block's place and gives the old one back once the copy no longer
    /// needs it.
    /// @pre the move was prepared by this block, which has not changed place since.
    void commit(Move move) noexcept;

    /// The bytes on the device: to be used by work queued on the stream, not by the host.
    /// @pre `location() == StateLocation::device`
    [[nodiscard]] gsl::span<std::byte> device_bytes() PINWARDEN_LIFETIMEBOUND;

    /// The bytes in host memory, after waiting for the copies that still use them.
    /// @pre `location() == StateLocation::host`, and the block is not transient
    [[nodiscard]] gsl::span<std::byte> host_bytes() PINWARDEN_LIFETIMEBOUND;

    /// Replaces the content, wherever it is; the source may go away at once.
    /// @throws SizeError if the sizes differ, AcceleratorError, std::bad_alloc.
    void write(gsl::span<const std::byte> source);

    /// Copies the content out, wherever it is, after waiting for the work queued on the stream.
    /// @throws SizeError if the sizes differ, AcceleratorError, std::bad_alloc
    void read(gsl::span<std::byte> destination) const;

    /// Queues a copy of the bytes from `offset` on to device memory of the block's stream, from wherever they
    /// are.
    /// @throws SizeError if the block has not that many, AcceleratorError, std::bad_alloc
    void copy_to_device(std::size_t offset, gsl::span<std::byte> device) const;

    /// Queues a copy of device memory of the block's stream to the bytes from `offset` on, wherever they are.
    /// @throws as copy_to_device() does.
    void copy_from_device(std::size_t offset, gsl::span<const std::byte> device);

private:
    void require_part(std::size_t offset, std::size_t bytes) const;

    StreamPtr stream_;
    std::string label_;
    std::size_t bytes_ = 0;
    StateLocation home_ = StateLocation::device;
    StateLocation location_ = StateLocation::device;
    bool transient_ = false;
    DeviceBuffer<std::byte> device_;
    PinnedBuffer<std::byte> host_;
};

}  // namespace pinwarden::zero
