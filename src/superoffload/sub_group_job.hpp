// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// One sub-group's host-Adam step, which can be stopped at any moment and undone to the bit.
///
/// The worker touches the memory of the step in pieces, each under a lock, and saves every piece before it
/// changes it. revoke() takes the lock away for good: once it has returned, the worker, wherever it hangs and
/// whenever it goes on, touches that memory never again, so that it may be restored, reused and unpinned.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include <gsl/span>

#include <pinwarden/core/completion.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>

namespace pinwarden::zero {

/// What all sub-groups of a step have in common.
struct StepTerms {
    std::int64_t number = 1;
    float gradient_factor = 1.0F;
    LowPrecision format = LowPrecision::bf16;
};

/// The arrays of a sub-group on the host.
struct JobArrays {
    AdamOptions options{};
    AdamState state{};
    gsl::span<std::byte> lp_params{};
    gsl::span<const std::byte> gradients{};
    CompletionTokenPtr ready{};  ///< complete once `gradients` are there
};

/// Where a worker saves what a step changes; each as long as the sub-group.
struct BackupPlace {
    gsl::span<float> hp;
    gsl::span<float> exp_avg;
    gsl::span<float> exp_avg_sq;
    gsl::span<std::byte> lp_params;
};

/// How far a job has come, for reports.
enum class JobStage : std::uint8_t { queued, awaiting_gradients, before_step, stepping, finished };

class SubGroupJob {
public:
    /// @pre the spans of `arrays` and `backup` agree in length, and `arrays.ready` is not null
    SubGroupJob(std::size_t number, const StepTerms& terms, JobArrays arrays, const BackupPlace& backup);
    SubGroupJob(const SubGroupJob&) = delete;
    SubGroupJob& operator=(const SubGroupJob&) = delete;

    /// Waits for the gradients, calls `before` and takes the step, adding 1 to `progress` after each piece.
    /// Returns early once it is revoked. For one thread, once per prepare().
    /// @throws what `before` throws; nothing has changed then.
    void run(const std::function<void(std::size_t)>& before, std::atomic<std::uint64_t>& progress);

    /// Ends the worker's access to the memory: waits for the piece that is being stepped, and for no other
    /// thing.
    void revoke() noexcept;

    /// Gives everything the content that it had before the step, bit for bit.
    /// @pre the job was revoked
    void restore() noexcept;

    /// Makes a revoked job that was restored ready to run once more, under other terms.
    /// @pre no worker runs it any more
    void prepare(const StepTerms& terms) noexcept;

    [[nodiscard]] std::size_t number() const noexcept { return number_; }
    [[nodiscard]] bool is_revoked() const noexcept { return revoked_; }

    /// Whether run() has come back since prepare(), with an exception or without; kept by whoever runs jobs,
    /// under a lock of its own.
    [[nodiscard]] bool has_ended() const noexcept { return ended_; }
    void set_ended() noexcept { ended_ = true; }
    [[nodiscard]] JobStage stage() const noexcept { return stage_.load(std::memory_order_relaxed); }

    /// What it is doing, for errors.
    [[nodiscard]] std::string describe() const;

private:
    [[nodiscard]] bool await_gradients() const;
    [[nodiscard]] bool step_piece();
    void save(std::size_t begin, std::size_t count) noexcept;
    void update(std::size_t begin, std::size_t count);

    const std::size_t number_;
    const JobArrays arrays_;
    const BackupPlace backup_;
    StepTerms terms_;
    std::atomic<JobStage> stage_ = JobStage::queued;
    std::atomic<bool> revoked_ = false;
    bool ended_ = false;
    std::mutex lease_;         // held while the memory is touched
    std::size_t stepped_ = 0;  // elements saved and changed; guarded by lease_
};

}  // namespace pinwarden::zero
