// SPDX-License-Identifier: Apache-2.0
#include "superoffload/adam_workers.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/core/release_failure.hpp>

#include "superoffload/worker_state.hpp"

namespace pinwarden::zero {
namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting caller looks whether the workers get on; their results wake it at once.
constexpr std::chrono::milliseconds glance{20};

std::int64_t in_ms(std::chrono::nanoseconds time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

[[noreturn]] void throw_failure(std::size_t sub_group, const std::exception_ptr& failure) {
    const auto text = [&](std::string_view what) {
        return fmt::format("host Adam failed at sub-group {} of the step: {}; the step was rolled back",
                           sub_group, what);
    };
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        std::throw_with_nested(WorkerError(text(error.what())));
    } catch (...) {
        std::throw_with_nested(WorkerError(text("an exception that is no std::exception")));
    }
}

}  // namespace

// Measures how long nothing has got on.
class AdamWorkers::Patience {
public:
    Patience(const WorkerState& state, std::chrono::nanoseconds timeout)
        : state_(state), timeout_(timeout), seen_(state.progress()) {}

    [[nodiscard]] bool is_over() {
        const auto now = Clock::now();
        if (const auto progress = state_.progress(); progress != seen_) {
            seen_ = progress;
            since_ = now;
        }
        return now - since_ >= timeout_;
    }

    [[nodiscard]] std::chrono::nanoseconds next_glance() const {
        return std::min<std::chrono::nanoseconds>(glance, timeout_);
    }

private:
    const WorkerState& state_;
    std::chrono::nanoseconds timeout_;
    std::uint64_t seen_;
    Clock::time_point since_ = Clock::now();
};

AdamWorkers::AdamWorkers(const CoreSet& cores, SuperOffloadOptions options)
    : options_(std::move(options)),
      state_(std::make_shared<WorkerState>(options_.queue_capacity, options_.before_sub_group)),
      process_(::getpid()) {
    start(cores, options_.workers == 0 ? cores.size() : options_.workers);
}

void AdamWorkers::start(const CoreSet& cores, std::size_t count) {
    threads_.reserve(count);
    state_->expect_threads(count);
    // A thread inherits the cores of the one that makes it, so that none ever runs elsewhere.
    const ScopedAffinity affinity(cores);
    try {
        for (std::size_t i = 0; i < count; ++i) {
            threads_.emplace_back([state = state_, i] { state->run_worker(i); });
            ::pthread_setname_np(threads_.back().native_handle(), "host-adam");
        }
    } catch (const std::system_error& error) {
        end_threads();
        throw WorkerError(
            fmt::format("host Adam: the system gives no thread {} of {}: {} ({}); give it fewer by "
                        "cpuadam_cores_perc, or raise the limit on threads (`ulimit -u`, or pids.max "
                        "of the cgroup)",
                        threads_.size() + 1, count, error.what(), error.code().value()));
    } catch (...) {
        end_threads();
        throw;
    }
}

void AdamWorkers::end_threads() {
    state_->close();
    for (auto& thread : threads_) thread.join();
}

AdamWorkers::~AdamWorkers() {
    if (!is_own_process()) {
        for (auto& thread : threads_) thread.detach();
        return;
    }
    cancel();
    state_->close();
    const bool known = state_->is_hung();
    const auto deadline = Clock::now() + (known ? std::chrono::nanoseconds(0) : options_.timeout);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        if (state_->wait_for_end(i, deadline)) {
            threads_[i].join();
            continue;
        }
        threads_[i].detach();
        if (!known)
            report_release_failure(
                {.text = "a worker of host Adam has not come back from before_sub_group within "
                         "the time-out; it is left behind, without memory of the engine"});
    }
}

bool AdamWorkers::is_own_process() const noexcept { return ::getpid() == process_; }

void AdamWorkers::submit(const std::shared_ptr<SubGroupJob>& job) {
    throw_what_failed();
    jobs_.reserve(jobs_.size() + 1);
    Patience patience(*state_, options_.timeout);
    auto handed_over = job;
    for (;;) {
        switch (state_->push(handed_over, patience.next_glance())) {
            case Push::done: jobs_.push_back(job); return;
            case Push::closed: state_->throw_broken();
            case Push::full:
                throw_what_failed();
                if (patience.is_over()) throw_timeout("no room in the queue");
        }
    }
}

void AdamWorkers::wait() {
    Patience patience(*state_, options_.timeout);
    for (const auto& job : jobs_) {
        while (!state_->wait_for_job(*job, patience.next_glance())) {
            throw_what_failed();
            if (patience.is_over()) throw_timeout("no result");
        }
    }
    throw_what_failed();
    jobs_.clear();
}

void AdamWorkers::cancel() noexcept {
    for (const auto& job : jobs_) job->revoke();
    jobs_.clear();
    state_->forget();
}

void AdamWorkers::require_usable() const {
    if (state_->is_broken()) state_->throw_broken();
}

void AdamWorkers::throw_what_failed() {
    std::size_t sub_group = 0;
    if (const auto failure = state_->take_failure(sub_group)) throw_failure(sub_group, failure);
    require_usable();
}

void AdamWorkers::throw_timeout(std::string_view waited_for) {
    std::size_t unfinished = 0;
    std::string first;
    for (const auto& job : jobs_) {
        if (job->stage() == JobStage::finished) continue;
        if (unfinished++ == 0) first = job->describe();
    }
    const std::string text = fmt::format(
        "host Adam: {} for {} ms, the time-out: {} of {} sub-groups are unfinished, and {}; its {} worker(s) "
        "are "
        "given up and the step was rolled back; find out what holds them, or raise "
        "SuperOffloadOptions::timeout",
        waited_for, in_ms(options_.timeout), unfinished, jobs_.size(),
        first.empty() ? "no worker takes the next one" : first, threads_.size());
    state_->give_up(text);
    throw WorkerTimeoutError(text);
}

}  // namespace pinwarden::zero
