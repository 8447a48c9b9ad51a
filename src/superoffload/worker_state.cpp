// SPDX-License-Identifier: Apache-2.0
#include "superoffload/worker_state.hpp"

#include <cxxabi.h>

#include <utility>

#include <fmt/format.h>

#include <pinwarden/zero/super_offload_options.hpp>

namespace pinwarden::zero {

// Tells the state how a thread left its loop, whichever way that was: by the end of the loop, or because
// something within ended the thread, which unwinds the stack without an exception that anybody may swallow.
class WorkerState::EndNotice {
public:
    EndNotice(WorkerState& state, std::size_t index) noexcept : state_(state), index_(index) {}
    EndNotice(const EndNotice&) = delete;
    EndNotice& operator=(const EndNotice&) = delete;
    ~EndNotice() { state_.end(index_, regular_, running_); }

    void set_running(const SubGroupJob* job) noexcept { running_ = job; }
    void set_regular() noexcept { regular_ = true; }

private:
    WorkerState& state_;
    const std::size_t index_;
    const SubGroupJob* running_ = nullptr;
    bool regular_ = false;
};

WorkerState::WorkerState(std::size_t queue_capacity, std::function<void(std::size_t)> before_sub_group)
    : before_sub_group_(std::move(before_sub_group)), queue_(queue_capacity) {}

void WorkerState::run_worker(std::size_t index) {
    // Declared first, so that it outlives the notice, which looks at it.
    std::optional<std::shared_ptr<SubGroupJob>> job;
    EndNotice notice(*this, index);
    while ((job = queue_.pop())) {
        notice.set_running(job->get());
        run(**job);
        notice.set_running(nullptr);
        job.reset();
    }
    notice.set_regular();
}

void WorkerState::run(SubGroupJob& job) {
    std::exception_ptr failure;
    try {
        job.run(before_sub_group_, progress_);
    } catch (const abi::__forced_unwind&) {
        throw;  // the thread is being ended, and the language forbids to stop that
    } catch (...) {
        failure = std::current_exception();
    }
    finish(job, std::move(failure));
}

void WorkerState::finish(SubGroupJob& job, std::exception_ptr failure) {
    {
        const std::lock_guard lock(mutex_);
        job.set_ended();
        // A job that was taken back concerns nobody any more, whatever it throws.
        if (failure != nullptr && failure_ == nullptr && !job.is_revoked()) {
            failed_sub_group_ = job.number();
            failure_ = std::move(failure);
        }
    }
    ++progress_;
    changed_.notify_all();
}

void WorkerState::end(std::size_t index, bool regular, const SubGroupJob* running) noexcept {
    {
        const std::lock_guard lock(mutex_);
        has_ended_[index] = true;
        if (!regular && !broken_) {
            broken_ = true;
            try {
                why_broken_ = fmt::format(
                    "host Adam: the thread of worker {} has ended, {}; the step was rolled back, and these "
                    "workers "
                    "take no further one; destroy the engine and make a new one",
                    index, running == nullptr ? "between two sub-groups" : "and " + running->describe());
            } catch (...) {
                // throw_broken() has words for a reason that there was no memory for.
            }
        }
    }
    if (!regular) queue_.close();
    changed_.notify_all();
}

bool WorkerState::wait_for_job(const SubGroupJob& job, std::chrono::nanoseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return job.has_ended() || failure_ != nullptr || broken_; });
    return job.has_ended();
}

bool WorkerState::wait_for_end(std::size_t index, std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return bool{has_ended_[index]}; });
}

std::exception_ptr WorkerState::take_failure(std::size_t& sub_group) noexcept {
    const std::lock_guard lock(mutex_);
    sub_group = failed_sub_group_;
    return std::exchange(failure_, nullptr);
}

void WorkerState::forget() noexcept {
    queue_.clear();
    const std::lock_guard lock(mutex_);
    failure_ = nullptr;
}

void WorkerState::give_up(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        broken_ = true;
        hung_ = true;
        why_broken_ = why;
    }
    queue_.close();
}

bool WorkerState::is_broken() const noexcept {
    const std::lock_guard lock(mutex_);
    return broken_;
}

bool WorkerState::is_hung() const noexcept {
    const std::lock_guard lock(mutex_);
    return hung_;
}

void WorkerState::throw_broken() const {
    const std::lock_guard lock(mutex_);
    throw WorkerError(why_broken_.empty() ? "host Adam: a worker ended, and memory for the details is short"
                                          : why_broken_);
}

}  // namespace pinwarden::zero
