// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/superoffload/super_offload.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinwarden/core/completion.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include "superoffload/adam_workers.hpp"
#include "superoffload/sub_group_job.hpp"
#include "zero/kernels.hpp"
#include "zero/super_offload_support.hpp"

namespace pinwarden::zero {
namespace {

SuperOffloadOptions checked(SuperOffloadOptions options) {
    if (options.queue_capacity < 1)
        throw SizeError(
            "SuperOffloadOptions::queue_capacity is 0; the least is 1, for a sub-group has to wait "
            "somewhere until a worker takes it");
    if (options.timeout <= std::chrono::nanoseconds(0))
        throw SizeError(fmt::format("SuperOffloadOptions::timeout is {} ns; it must be more than 0",
                                    options.timeout.count()));
    // Far below what the clock can count, and for ever all the same.
    options.timeout = std::min<std::chrono::nanoseconds>(options.timeout, std::chrono::hours(24 * 365));
    return options;
}

PinOptions labelled(PinOptions options) {
    options.label = "super_offload_gradients";
    return options;
}

bool same_bits(float left, float right) {
    return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
}

}  // namespace

class SuperOffload::Impl {
public:
    Impl(const StepperSettings& settings, SuperOffloadOptions options)
        : cores_(split_cores(CoreSet::of_this_thread(), settings.offload.cpuadam_cores_perc)),
          engine_stream_(settings.stream),
          copies_(settings.accelerator->create_stream("super_offload")),
          gradients_(settings.gradient_bytes, labelled(settings.memory), settings.site),
          saved_hp_(settings.gradient_bytes / lp_bytes),
          saved_exp_avg_(saved_hp_.size()),
          saved_exp_avg_sq_(saved_hp_.size()),
          saved_lp_params_(settings.gradient_bytes),
          workers_(cores_.adam, checked(std::move(options))) {}

    ~Impl() {
        if (workers_.is_own_process()) roll_back();
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void start(SubGroupStep step);
    void gradients_ready(std::size_t sub_group);
    void finish(float gradient_factor);
    void roll_back() noexcept;

    [[nodiscard]] const PinnedScratch<std::byte>& scratch() const noexcept { return gradients_; }
    [[nodiscard]] const CoreSplit& cores() const noexcept { return cores_; }
    [[nodiscard]] SpeculationCounts counts() const noexcept { return counts_; }

private:
    [[nodiscard]] JobArrays fetch(const SubGroupUpdate& update, std::size_t begin);
    [[nodiscard]] BackupPlace backup_of(std::size_t begin, std::size_t count);
    void require_room(std::size_t elements) const;
    void order_engine_behind_copies() noexcept;
    void undo() noexcept;
    void redo(float gradient_factor);

    const CoreSplit cores_;
    const StreamPtr engine_stream_;
    const StreamPtr copies_;  // a stream of its own: that of the engine is busy with backward
    CompletionTokenPtr last_copy_;
    PinnedScratch<std::byte> gradients_;
    gsl::span<std::byte> buffer_;  // all of the scratch, for the present step
    std::vector<float> saved_hp_;
    std::vector<float> saved_exp_avg_;
    std::vector<float> saved_exp_avg_sq_;
    std::vector<std::byte> saved_lp_params_;

    SubGroupStep step_;
    StepTerms terms_;
    std::vector<std::size_t> begins_;  // of the sub-groups, in elements
    bool pending_ = false;
    std::exception_ptr failure_;  // of workers, while sub-groups were handed over
    SpeculationCounts counts_;
    std::vector<std::shared_ptr<SubGroupJob>> jobs_;
    AdamWorkers workers_;  // last, so that the threads are gone before what they work on
};

void SuperOffload::Impl::start(SubGroupStep step) {
    roll_back();
    workers_.require_usable();
    begins_.clear();
    std::size_t elements = 0;
    for (const auto& update : step.sub_groups) {
        begins_.push_back(elements);
        elements += update.state.hp.size();
    }
    require_room(elements);
    jobs_.reserve(step.sub_groups.size());
    buffer_ = gradients_.acquire(gradients_.capacity());
    terms_ = {.number = step.number, .gradient_factor = step.expected_factor, .format = step.format};
    step_ = std::move(step);
    pending_ = true;
}

void SuperOffload::Impl::require_room(std::size_t elements) const {
    const std::size_t capacity = gradients_.capacity() / lp_bytes;
    if (elements > capacity) throw CapacityError(elements, capacity, lp_bytes);
}

void SuperOffload::Impl::gradients_ready(std::size_t sub_group) {
    if (failure_ != nullptr) return;
    const SubGroupUpdate& update = step_.sub_groups[sub_group];
    const std::size_t begin = begins_[sub_group];
    const std::size_t elements = update.state.hp.size();
    if (elements == 0) return;
    auto job =
        std::make_shared<SubGroupJob>(sub_group, terms_, fetch(update, begin), backup_of(begin, elements));
    try {
        workers_.submit(job);
        jobs_.push_back(std::move(job));
    } catch (const WorkerError&) {
        failure_ = std::current_exception();
    }
}

JobArrays SuperOffload::Impl::fetch(const SubGroupUpdate& update, std::size_t begin) {
    const auto destination = buffer_.subspan(begin * lp_bytes, update.gradients.size());
    copies_->copy_to_host(destination.data(), update.gradients.data(), destination.size());
    try {
        last_copy_ = copies_->record();
    } catch (...) {
        copies_->synchronize();  // a copy that nobody knows of must not be in flight
        throw;
    }
    gradients_.record_use(last_copy_);
    return {.options = update.options,
            .state = update.state,
            .lp_params = update.lp_params,
            .gradients = destination,
            .ready = last_copy_};
}

BackupPlace SuperOffload::Impl::backup_of(std::size_t begin, std::size_t count) {
    return {.hp = gsl::span(saved_hp_).subspan(begin, count),
            .exp_avg = gsl::span(saved_exp_avg_).subspan(begin, count),
            .exp_avg_sq = gsl::span(saved_exp_avg_sq_).subspan(begin, count),
            .lp_params = gsl::span(saved_lp_params_).subspan(begin * lp_bytes, count * lp_bytes)};
}

void SuperOffload::Impl::finish(float gradient_factor) {
    try {
        if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
        workers_.wait();
        const bool right = same_bits(gradient_factor, terms_.gradient_factor);
        if (!right) redo(gradient_factor);
        jobs_.clear();
        pending_ = false;
        ++(right ? counts_.kept : counts_.redone);
    } catch (...) {
        roll_back();
        throw;
    }
}

void SuperOffload::Impl::redo(float gradient_factor) {
    terms_.gradient_factor = gradient_factor;
    undo();
    for (const auto& job : jobs_) job->prepare(terms_);
    for (const auto& job : jobs_) workers_.submit(job);
    workers_.wait();
}

void SuperOffload::Impl::undo() noexcept {
    for (const auto& job : jobs_) {
        job->revoke();
        job->restore();
    }
}

void SuperOffload::Impl::roll_back() noexcept {
    if (!pending_) return;
    workers_.cancel();
    undo();
    order_engine_behind_copies();
    jobs_.clear();
    failure_ = nullptr;
    pending_ = false;
    ++counts_.rolled_back;
}

// What the engine does next with the device's memory of the gradients, giving it back included, it queues on
// its own stream, which knows nothing of copies that are still to read that memory. The work owns the copies'
// stream as well: whoever drops a stream last waits for it, and that must not be the caller if the device is
// stuck.
void SuperOffload::Impl::order_engine_behind_copies() noexcept {
    if (last_copy_ == nullptr || last_copy_->is_complete()) return;
    try {
        engine_stream_->launch([copy = last_copy_, stream = copies_] { wait_until_complete(*copy); });
    } catch (...) {
        wait_until_complete(*last_copy_);
    }
}

SuperOffload::SuperOffload(const StepperSettings& settings, SuperOffloadOptions options)
    : impl_(std::make_unique<Impl>(settings, std::move(options))) {}

SuperOffload::~SuperOffload() = default;

void SuperOffload::start(SubGroupStep step) { impl_->start(std::move(step)); }

void SuperOffload::gradients_ready(std::size_t sub_group) { impl_->gradients_ready(sub_group); }

void SuperOffload::finish(float gradient_factor) { impl_->finish(gradient_factor); }

void SuperOffload::roll_back() noexcept { impl_->roll_back(); }

std::shared_ptr<void> SuperOffload::yield_cores() { return std::make_shared<ScopedAffinity>(cores().rest); }

bool SuperOffload::is_pinned() const noexcept { return impl_->scratch().is_pinned(); }

std::size_t SuperOffload::capacity_bytes() const noexcept { return impl_->scratch().capacity_bytes(); }

const CoreSplit& SuperOffload::cores() const noexcept { return impl_->cores(); }

SpeculationCounts SuperOffload::counts() const noexcept { return impl_->counts(); }

std::unique_ptr<SubGroupStepper> make_super_offload(const StepperSettings& settings,
                                                    const SuperOffloadOptions& options) {
    return std::make_unique<SuperOffload>(settings, options);
}

}  // namespace pinwarden::zero
