// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// ZeRO stages 1, 2 and 3 for one rank or many: mixed-precision training whose states can be moved to the
/// host and back.
///
/// The engine owns everything that a step of training needs besides the model: bf16 or fp16 parameters, their
/// gradients, the fp32 master parameters and Adam's moments, per parameter group; of what the stage divides
/// among the ranks, this rank's shard. They live on the accelerator; with
/// `zero_optimization.offload_optimizer.device: cpu` the master parameters and the moments live on the host,
/// where the optimizer then runs, with bit-identical results. offload_states() moves any of them to the host
/// for a while.
///
/// All host memory is held by handles. Dropping them is all that destroy() has to do: how a block was pinned
/// is stored with the block, so no flag and no configuration is read on the way out, and the audit proves
/// that nothing is left.
///
/// ```
/// zero::Engine engine(zero::read_config_file("zero2.json"), make_cpu_accelerator(), groups);
/// for (int step = 0; step < steps; ++step) {
///     const double loss = engine.backward(loss_and_gradients);
///     engine.step();
/// }
/// engine.offload_states();   // make room on the device
/// engine.destroy();          // throws audit::LeakError if one pin is still live
/// ```
/// An engine is used by one thread at a time. The engines of a group of ranks are made together and take
/// backward() and step() together; each may be offloaded, reloaded and destroyed by itself. Cost: backward()
/// copies the low-precision parameters to the host and the gradients to the device, since the loss function
/// runs on the host.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gsl/span>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/zero/communicator.hpp>
#include <pinwarden/zero/config.hpp>
#include <pinwarden/zero/offload_state.hpp>
#include <pinwarden/zero/parameter_group.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>
#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

/// The engine was used in a way that its state does not allow; the text says what to call first.
class PINWARDEN_API EngineError : public Error {
public:
    using Error::Error;
};

/// What an engine takes besides its configuration.
struct EngineOptions {
    PinBackendPtr backend{};    ///< how to pin; null for default_backend()
    std::string name = "zero";  ///< the name of its audit scope and of its stream
    std::chrono::nanoseconds destroy_deadline = std::chrono::seconds(30);  ///< how long destroy() waits
    CommunicatorPtr communicator{};       ///< the ranks that train together; null for a single one
    StepperFactory stepper{};             ///< who steps on the host; null for what the configuration says
    SuperOffloadOptions super_offload{};  ///< for `offload_optimizer.super_offload`
};

/// What one call of Engine::step() did.
struct StepResult {
    bool applied = false;        ///< whether the parameters were updated
    bool overflow = false;       ///< a gradient was infinite or not a number: the step was skipped
    double grad_norm = 0.0;      ///< L2 norm of the gradients of all ranks, unscaled and before clipping
    double loss_scale = 1.0;     ///< the scale that the gradients of this step carried
    double learning_rate = 0.0;  ///< the scheduled rate of the first group that this step used
};

/// The model: fills `gradients` for one micro-batch and returns its mean loss. `parameters` holds the
/// low-precision parameters widened to fp32, all parameters of all groups one after the other; `gradients`
/// has the same layout and comes filled with zeros. It must not call the engine.
using LossFunction = std::function<double(gsl::span<const float> parameters, gsl::span<float> gradients)>;

/// One engine. Neither copied nor moved. Not thread-safe.
class PINWARDEN_API Engine {
public:
    /// Takes the initial values of all parameters; the spans in `groups` may go away afterwards. Of several
    /// ranks, all take those of rank 0.
    /// @throws EngineError if there is no parameter, an initial value that low precision cannot hold, or a
    ///         configuration that this engine or this number of ranks cannot follow; CommunicationError,
    ///         PinError and what default_backend() throws if host memory is refused, AcceleratorError if the
    ///         device has not enough memory. Nothing is held then.
    Engine(Config config, AcceleratorPtr accelerator, gsl::span<const ParameterGroup> groups,
           EngineOptions options = {}, Site site = Site::current());

    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Does what destroy() does, unless it was called, and hands what that would throw to the release-failure
    /// handler. Waits until the device has run all work of this engine, however long that takes.
    ~Engine();

    /// Runs one micro-batch and accumulates its gradients: scaled by the loss scale and by the number of
    /// micro-batches in a step over all ranks, rounded to low precision. Returns the loss that `loss`
    /// returned on this rank. An error leaves several ranks out of step: end the group then.
    /// @throws what `loss` throws; EngineError if `lp_params`, `lp_grads` or `contiguous_grad_buffer` are
    ///         offloaded or a full step of micro-batches awaits step(); AcceleratorError. The micro-batch did
    ///         not happen then.
    double backward(const LossFunction& loss);

    /// Whether the micro-batches of a full step are accumulated, so that the next step() updates the
    /// parameters.
    [[nodiscard]] bool is_gradient_accumulation_boundary() const noexcept;

    /// Unscales and clips the gradients and updates all parameters; before the accumulation boundary it does
    /// nothing, so that training loops may call it after every backward(). Gradients that are not finite are
    /// never applied: `overflow` is set, and with a dynamic loss scale the scale is adjusted.
    /// @throws EngineError if a state it needs is offloaded or no micro-batch was run; AcceleratorError. All
    ///         states are what they were then, and step() may be called again. LossScaleError for an overflow
    ///         at the least loss scale: the step is skipped, and the next backward() starts a new one.
    ///         WorkerError or WorkerTimeoutError if workers of SuperOffload failed: states are what they were
    ///         then, and step() may be called again, which fails as well if workers were lost.
    StepResult step();

    /// Moves the states in `include` to the host and gives their device memory back. States that are on the
    /// host already stay as they are. With `non_blocking`, returns while the copies run, and device memory is
    /// given back behind them; snapshot() waits for them, and so does the release of the host memory.
    /// @throws PinError, AcceleratorError, std::bad_alloc. Every state is then where it was, and nothing is
    ///         held.
    void offload_states(OffloadStates include = OffloadStates::all(), Pinning pinning = Pinning::pinned,
                        bool non_blocking = false, Site site = Site::current());

    /// Moves every offloaded state back to where the configuration places it. See offload_states() for the
    /// rest.
    void reload_states(bool non_blocking = false);

    /// Where the state is now.
    [[nodiscard]] StateLocation location(OffloadState state) const noexcept;

    /// Where the configuration places it.
    [[nodiscard]] StateLocation home(OffloadState state) const noexcept;

    /// Whether the state is on the host and all of its memory is page-locked.
    [[nodiscard]] bool is_pinned(OffloadState state) const noexcept;

    /// The state's size, the same wherever it is.
    [[nodiscard]] std::size_t size_bytes(OffloadState state) const noexcept;

    /// What this rank has of the state, bit for bit, wherever it is: group after group, and `exp_avg` before
    /// `exp_avg_sq` in each; in stage 3 all groups' `exp_avg` before all `exp_avg_sq`. Waits for all queued
    /// work.
    /// @throws std::bad_alloc, AcceleratorError
    [[nodiscard]] std::vector<std::byte> snapshot(OffloadState state) const;

    /// Drops every handle, waits up to the deadline for the copies that still use them, and closes the audit
    /// scope. May be called at any moment and again; the engine can only be destroyed afterwards.
    /// @throws audit::LeakError if a pin of this engine's scope is live or stuck in flight. Otherwise what
    ///         work on the device threw, or EngineError if it has not finished in time. Everything is
    ///         released in all cases.
    void destroy();

    [[nodiscard]] const Config& config() const noexcept;
    [[nodiscard]] std::size_t parameter_count() const noexcept;  ///< elements of all groups, on all ranks
    [[nodiscard]] std::int64_t global_steps() const noexcept;    ///< steps that updated the parameters
    [[nodiscard]] std::int64_t skipped_steps() const noexcept;   ///< steps skipped because of an overflow
    [[nodiscard]] double loss_scale() const noexcept;            ///< the scale of the next backward()

    /// The engine's scope, for pins that other parts of a program make on its behalf: destroy() accounts for
    /// them.
    [[nodiscard]] audit::ScopeRef scope() const noexcept;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace pinwarden::zero
