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
/// for (const auto& sub_group : sub_groups) super.async_step(sub_group, {device_gradients}, *stream);
/// super.wait();
/// super.validate(factor_for(norm_of(super.gradients())));
/// ```
/// Cost: 14 bytes of ordinary memory for each element, to undo a step, and 2 of the scratch.

#include <cstddef>
#include <memory>

#include <gsl/span>

#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/superoffload/core_set.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

/// Neither copied nor moved. See SubGroupStepper for the contract of the functions.
class PINWARDEN_API SuperOffload final : public SubGroupStepper {
public:
    /// Room for steps of up to `elements` elements; `fraction` of the calling thread's cores become the
    /// workers'. `gradients` says how the scratch is acquired.
    /// @throws SizeError if an option is out of range or a size overflows, AffinityError if the cores cannot
    /// be
    ///         set, WorkerError if the system gives no thread, and as PinnedScratch's constructor does.
    SuperOffload(std::size_t elements, double fraction, SuperOffloadOptions options,
                 const PinOptions& gradients = {}, Site site = Site::current());

    /// Rolls back a step that is not validated, and ends the workers. One that hangs is waited for no longer
    /// than the time-out and then left behind, without any memory but its own; the release-failure handler is
    /// told unless an error has said so before.
    ~SuperOffload() override;

    void begin(const StepTerms& terms) override;
    void async_step(const SubGroup& sub_group, const GradientSource& gradients, Stream& stream) override;
    void wait() override;
    StepOutcome validate(float gradient_factor) override;
    void rollback() noexcept override;
    [[nodiscard]] bool is_pending() const noexcept override;
    [[nodiscard]] gsl::span<const std::byte> gradients() const PINWARDEN_LIFETIMEBOUND override;
    [[nodiscard]] std::shared_ptr<void> yield_cores() override;

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
