// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Speculative host Adam: sub-groups are stepped on the host while backward still runs, on cores of their
/// own, before anybody knows whether the step is valid; then it is kept, undone, or undone and redone.
///
/// The gradients come from the device into one scratch, by copies recorded on a stream of their own; a
/// bounded queue hands the sub-groups to the workers. What a worker changes it saves first, so that a
/// rollback is exact: every array has the bits that it had before the step. Workers whose step is taken from
/// them touch its memory never again, whether they hang, end or go on.
///
/// An engine makes one if its configuration says `offload_optimizer.super_offload`. By itself:
/// ```
/// zero::SuperOffload super({.accelerator = accelerator, .stream = stream, .gradient_bytes = bytes}, {});
/// super.start(step);                                    // while backward goes on:
/// for (std::size_t i = 0; i < step.sub_groups.size(); ++i) super.gradients_ready(i);
/// super.finish(factor_for(norm));                       // the arrays are those of a synchronous step
/// ```
/// Cost: 14 bytes of ordinary memory for each element, to undo a step, and 2 of the scratch; two system calls
/// per step for the affinity of the calling thread.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <pinwarden/core/export.hpp>
#include <pinwarden/superoffload/core_set.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

/// How steps of a SuperOffload have ended.
struct SpeculationCounts {
    std::int64_t kept = 0;         ///< the expected factor was right
    std::int64_t redone = 0;       ///< it was wrong: the step was undone and taken again with the right one
    std::int64_t rolled_back = 0;  ///< overflows, and steps that were given up or failed

    [[nodiscard]] friend bool operator==(const SpeculationCounts&,
                                         const SpeculationCounts&) noexcept = default;
};

/// Neither copied nor moved. Not thread-safe.
class PINWARDEN_API SuperOffload final : public SubGroupStepper {
public:
    /// Room for steps of up to `settings.gradient_bytes`; the share `settings.offload.cpuadam_cores_perc` of
    /// the calling thread's cores become the workers'. The scratch is acquired as `settings.memory` says.
    /// @throws SizeError if an option is out of range, AcceleratorError, AffinityError if the cores cannot be
    /// set, WorkerError if
    ///         the system gives no thread, and as PinnedScratch's constructor does. Nothing is held then.
    SuperOffload(const StepperSettings& settings, SuperOffloadOptions options);

    /// Rolls back a step that is not finished, and ends the workers. One that hangs is waited for no longer
    /// than the time-out and then left behind, without any memory but its own; the release-failure handler is
    /// told unless an error has said so before.
    ~SuperOffload() override;

    [[nodiscard]] bool starts_early() const noexcept override { return true; }

    /// Begins a step; one that is not finished is rolled back first.
    /// @throws CapacityError if the gradients are larger than the scratch, WorkerError if workers were lost
    ///         before, std::bad_alloc.
    void start(SubGroupStep step) override;

    /// Hands a sub-group to the workers, after waiting for room in the queue. A failure of the workers is
    /// kept for finish(), since it is no matter of who computes gradients.
    /// @throws AcceleratorError if the gradients cannot be copied.
    void gradients_ready(std::size_t sub_group) override;

    /// Waits until all sub-groups are stepped, and keeps the step if `gradient_factor` is the expected one,
    /// to the bit; else undoes it and takes it again.
    /// @throws WorkerError if a worker failed or ended, WorkerTimeoutError if nothing got on for the
    /// time-out.
    ///         The step is rolled back then.
    void finish(float gradient_factor) override;

    /// Undoes the step, whatever the workers are doing. Waits for no worker that hangs.
    void roll_back() noexcept override;

    /// Takes the calling thread off the workers' cores until what is returned is destroyed, on the same
    /// thread.
    /// @throws AffinityError
    [[nodiscard]] std::shared_ptr<void> yield_cores() override;

    /// Whether the scratch is page-locked, and its size in bytes.
    [[nodiscard]] bool is_pinned() const noexcept;
    [[nodiscard]] std::size_t capacity_bytes() const noexcept;

    /// The cores of the workers, and those that are left to the thread that trains.
    [[nodiscard]] const CoreSplit& cores() const noexcept;

    [[nodiscard]] SpeculationCounts counts() const noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pinwarden::zero
