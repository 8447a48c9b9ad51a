// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Who takes the optimizer step on the host, one sub-group at a time.
///
/// An engine whose optimizer runs on the host hands each step to a stepper: first what is to be stepped,
/// then which gradients are complete, at last the factor that unscales and clips them, which is known only
/// when all are. The engine's own stepper waits for that factor; another one may step with a guess while the
/// rest of the gradients is still reduced, and take it back if the guess was wrong.
///
/// ```
/// zero::Engine engine(config, accelerator, groups, {.stepper = [](const zero::StepperSettings& settings) {
///     return std::make_unique<MyStepper>(settings);
/// }});
/// ```
/// The calls of one step: start(); gradients_ready() once for each sub-group, in any order; then finish() or
/// roll_back(). All come from the engine's thread. Whatever finish() throws, and after roll_back(), the
/// states are bit for bit what they were before start().

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/config.hpp>
#include <pinwarden/zero/low_precision.hpp>

namespace pinwarden::zero {

/// One sub-group of a step. The memory stays where it is until the step has ended.
struct SubGroupUpdate {
    AdamOptions options{};                   ///< of its group, with the learning rate of this step
    AdamState state{};                       ///< changed in place
    gsl::span<const std::byte> gradients{};  ///< in low precision, on the device
    gsl::span<std::byte> lp_params{};        ///< receives the new master parameters in low precision
};

/// A whole step of one rank.
struct SubGroupStep {
    LowPrecision format = LowPrecision::bf16;
    std::int64_t number = 1;       ///< counts the steps applied, this one included
    float expected_factor = 1.0F;  ///< what finish() is given unless gradients are clipped
    std::vector<SubGroupUpdate> sub_groups{};
};

/// What a stepper is made from.
struct StepperSettings {
    AcceleratorPtr accelerator;
    StreamPtr stream;  ///< the engine's own; gradients are complete in its order
    LowPrecision format = LowPrecision::bf16;
    OffloadOptimizerConfig offload{};  ///< as configured
    PinOptions memory{};               ///< how host memory is acquired; the label is the stepper's to choose
    std::size_t gradient_bytes = 0;    ///< of all sub-groups of a step together
    Site site{};                       ///< the line that made the engine
};

/// Takes host steps. Holds handles only, so that its destructor releases all it has, in the middle of a step
/// too; it stops whatever still works on the states.
class PINWARDEN_API SubGroupStepper {
public:
    SubGroupStepper() = default;
    SubGroupStepper(const SubGroupStepper&) = delete;
    SubGroupStepper& operator=(const SubGroupStepper&) = delete;
    virtual ~SubGroupStepper();

    /// Whether the engine shall call start() while backward() still reduces the gradients of a step's last
    /// micro-batch, and gradients_ready() as they become complete; otherwise step() calls everything.
    [[nodiscard]] virtual bool starts_early() const noexcept { return false; }

    /// A step begins.
    /// @throws what it likes; nothing has begun then.
    virtual void start(SubGroupStep step) = 0;

    /// The gradients of a sub-group are complete on the device, for reads by any stream.
    /// @throws what it likes; the engine then calls roll_back().
    virtual void gradients_ready(std::size_t sub_group) = 0;

    /// The gradients of all sub-groups are ready and are to be multiplied by `gradient_factor`. Returns when
    /// the step is taken.
    /// @throws what it likes; the step has not begun then.
    virtual void finish(float gradient_factor) = 0;

    /// Keeps the calling thread off the cores that sub-groups are stepped on, until what is returned is
    /// destroyed, on the same thread: for the time that backward() takes. Null for a stepper without cores of
    /// its own.
    /// @throws what it likes; nothing has changed then.
    [[nodiscard]] virtual std::shared_ptr<void> yield_cores() { return nullptr; }

    /// Takes back what has been done since start(). Without a step that has begun it does nothing.
    virtual void roll_back() = 0;
};

/// Makes an engine's stepper.
using StepperFactory = std::function<std::unique_ptr<SubGroupStepper>(const StepperSettings& settings)>;

}  // namespace pinwarden::zero
