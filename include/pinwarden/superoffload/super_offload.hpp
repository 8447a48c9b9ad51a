// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Speculative host Adam: sub-groups are stepped on the host while backward still runs, on cores of their
/// own, before anybody knows whether the step is valid; then it is kept, undone, or undone and redone.
///
/// The gradients come from the device into one scratch, by copies recorded on their stream; a bounded queue
/// hands the sub-groups to the workers. What a worker changes it saves first, so that a rollback is exact:
/// every array has the bits that it had before the step. Workers whose step is taken from them touch its
/// memory never again, whether they hang, end or go on.
///
/// ```
/// zero::SuperOffload super(elements, 0.8, {}, {.pinning = pinning, .label = "super_offload_gradients"});
/// super.begin({.number = 1, .gradient_factor = 1.0F, .format = zero::LowPrecision::bf16});
/// for (auto& sub_group : sub_groups) super.async_step(sub_group, device_gradients, *stream);  // backward
/// goes on super.wait(); const double norm = ...;                                // of super.gradients()
/// super.validate(factor_for(norm));                       // the arrays are those of a synchronous step
/// ```
/// Cost: 14 bytes of ordinary memory for each element, to undo a step, and 2 of the scratch. Not thread-safe;
/// it does not own the arrays of the sub-groups, which must stay until the step is validated or rolled back.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/superoffload/core_set.hpp>
#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/low_precision.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

/// What all sub-groups of a step have in common.
struct StepTerms {
    std::int64_t number = 1;       ///< counts the steps applied, this one included
    float gradient_factor = 1.0F;  ///< unscales and clips
    LowPrecision format = LowPrecision::bf16;

    [[nodiscard]] friend bool operator==(const StepTerms&, const StepTerms&) noexcept = default;
};

/// A part of the parameters that is stepped at once.
struct SubGroup {
    AdamOptions options{};
    AdamState state{};
    gsl::span<std::byte> lp_params{};        ///< receives the new master parameters in low precision
    gsl::span<const std::byte> gradients{};  ///< in low precision, on the host
    CompletionTokenPtr ready{};              ///< complete once `gradients` are there; null: they are
};

/// What validation found.
enum class StepOutcome : std::uint8_t {
    kept,    ///< the speculation was right
    redone,  ///< it was wrong: the step was rolled back, and taken again with the right factor
};

/// Neither copied nor moved.
class PINWARDEN_API SuperOffload {
public:
    /// Room for steps of up to `elements` elements; `fraction` of the calling thread's cores become the
    /// workers'. `gradients` says how the scratch is acquired.
    /// @throws SizeError if `fraction` is not more than 0 and at most 1 or a size overflows, AffinityError if
    ///         the cores cannot be set, WorkerError if the system gives no thread, and as PinnedScratch's
    ///         constructor does.
    SuperOffload(std::size_t elements, double fraction, SuperOffloadOptions options,
                 const PinOptions& gradients = {}, Site site = Site::current());
    SuperOffload(const SuperOffload&) = delete;
    SuperOffload& operator=(const SuperOffload&) = delete;

    /// Rolls back a step that is not validated, and ends the workers. One that hangs is waited for no longer
    /// than the time-out and then left behind, without any memory but its own; the release-failure handler is
    /// told unless an error has said so before.
    ~SuperOffload();

    /// Starts a step. One that is not validated is rolled back first.
    /// @throws WorkerError if a worker was lost before; nothing is started then.
    void begin(const StepTerms& terms);

    /// Copies the gradients of `sub_group` from the device into the scratch on `stream`, and hands the
    /// sub-group to a worker, after waiting for room in the queue. Its members `gradients` and `ready` are
    /// set by this call.
    /// @pre begin() was called, and the lengths agree
    /// @throws CapacityError if the gradients are larger than what is left of the scratch, AcceleratorError
    /// if
    ///         they cannot be copied, WorkerError if a worker failed, ended or hung. The step is rolled back
    ///         then.
    void async_step(SubGroup sub_group, gsl::span<const std::byte> device_gradients, Stream& stream);

    /// Waits until all sub-groups are stepped.
    /// @throws WorkerError if a worker failed or ended, WorkerTimeoutError if nothing got on for the
    /// time-out.
    ///         The step is rolled back then.
    void wait();

    /// Waits, then keeps the step if `gradient_factor` is the one that begin() was told, to the bit; else
    /// rolls it back and takes it again with the right one.
    /// @throws as wait() does
    StepOutcome validate(float gradient_factor);

    /// Undoes the step, whatever the workers are doing: all arrays have the bits that they had before
    /// begin(). Waits for no worker that hangs. Idempotent.
    void rollback() noexcept;

    /// Whether a step was begun that is neither validated nor rolled back.
    [[nodiscard]] bool is_pending() const noexcept;

    /// The gradients of all sub-groups handed over since begin(), one after the other, after waiting for
    /// their copies; valid until the next begin().
    [[nodiscard]] gsl::span<const std::byte> gradients() const PINWARDEN_LIFETIMEBOUND;

    /// Whether the scratch is page-locked, and its size in bytes.
    [[nodiscard]] bool is_pinned() const noexcept;
    [[nodiscard]] std::size_t capacity_bytes() const noexcept;

    /// The cores of the workers, and those that are left to the thread that trains.
    [[nodiscard]] const CoreSplit& cores() const noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pinwarden::zero
