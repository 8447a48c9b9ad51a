// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What steps sub-groups on the host before the whole step is known to be valid;
/// superoffload/super_offload.hpp does it.
///
/// ```
/// stepper.begin({.number = 1, .gradient_factor = 1.0F, .format = zero::LowPrecision::bf16});
/// for (const auto& sub_group : sub_groups) stepper.async_step(sub_group, gradients_of(sub_group), *stream);
/// stepper.wait();                                          // backward has gone on meanwhile
/// stepper.validate(factor_for(norm_of(stepper.gradients())));
/// ```
/// After validate() the arrays have the bits of a synchronous step, and after rollback() those that they had
/// before begin(). Not thread-safe; the arrays belong to the caller, and must stay until either.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/low_precision.hpp>

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
    std::size_t begin = 0;  ///< its first element among all elements of the step
    AdamOptions options{};
    AdamState state{};
    gsl::span<std::byte> lp_params{};  ///< receives the new master parameters in low precision
};

/// Where the gradients of a sub-group come from; each part in low precision, and as long as the sub-group or
/// empty. With both, they are added as accumulation on the device adds them.
struct GradientSource {
    gsl::span<const std::byte> on_device{};  ///< copied in the order of a stream
    gsl::span<const std::byte> on_host{};    ///< must stay until wait() or rollback()
};

/// What validation found.
enum class StepOutcome : std::uint8_t {
    kept,    ///< the speculation was right
    redone,  ///< it was wrong: the step was rolled back, and taken again with the right factor
};

/// See the top of the file.
class PINWARDEN_API SubGroupStepper {
public:
    SubGroupStepper() = default;
    SubGroupStepper(const SubGroupStepper&) = delete;
    SubGroupStepper& operator=(const SubGroupStepper&) = delete;

    /// Rolls back a step that is not validated.
    virtual ~SubGroupStepper();

    /// Starts a step. One that is not validated is rolled back first.
    /// @throws WorkerError if workers were lost before; nothing is started then.
    virtual void begin(const StepTerms& terms) = 0;

    /// Hands a sub-group over; waits while too many wait already. Each element belongs to one sub-group of a
    /// step.
    /// @pre begin() was called, and the lengths agree
    /// @throws CapacityError if it lies beyond the largest step, AcceleratorError if its gradients cannot be
    ///         copied, WorkerError if a worker failed, ended or hung. The step is rolled back then.
    virtual void async_step(const SubGroup& sub_group, const GradientSource& gradients, Stream& stream) = 0;

    /// Waits until all sub-groups are stepped.
    /// @throws WorkerError if a worker failed or ended, WorkerTimeoutError if nothing got on for the
    /// time-out.
    ///         The step is rolled back then.
    virtual void wait() = 0;

    /// Waits, then keeps the step if `gradient_factor` is the one that begin() was told, to the bit; else
    /// rolls it back and takes it again with the right one.
    /// @throws as wait() does
    virtual StepOutcome validate(float gradient_factor) = 0;

    /// Undoes the step, whatever the workers are doing. Waits for no worker that hangs. Idempotent.
    virtual void rollback() noexcept = 0;

    /// Whether a step was begun that is neither validated nor rolled back.
    [[nodiscard]] virtual bool is_pending() const noexcept = 0;

    /// The gradients of all elements up to the last one handed over since begin(); valid until the next
    /// begin().
    /// @pre wait() has returned since the last async_step()
    [[nodiscard]] virtual gsl::span<const std::byte> gradients() const PINWARDEN_LIFETIMEBOUND = 0;

    /// Takes the calling thread off the workers' cores, until what is returned is destroyed, on the same
    /// thread.
    /// @throws AffinityError
    [[nodiscard]] virtual std::shared_ptr<void> yield_cores() = 0;
};

}  // namespace pinwarden::zero
