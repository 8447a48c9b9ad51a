// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/superoffload/super_offload.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinwarden/core/bytes.hpp>
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

}  // namespace

class SuperOffload::Impl {
public:
    Impl(std::size_t elements, double fraction, SuperOffloadOptions options, const PinOptions& gradients,
         const Site& site)
        : cores_(split_cores(CoreSet::of_this_thread(), fraction)),
          gradients_(checked_bytes(elements, lp_bytes), gradients, site),
          saved_hp_(elements),
          saved_exp_avg_(elements),
          saved_exp_avg_sq_(elements),
          saved_lp_params_(elements * lp_bytes),
          workers_(cores_.adam, checked(std::move(options))) {}

    ~Impl() {
        if (workers_.is_own_process()) rollback();
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    void begin(const StepTerms& terms);
    void async_step(const SubGroup& sub_group, const GradientSource& gradients, Stream& stream);
    void wait();
    StepOutcome validate(float gradient_factor);
    void rollback() noexcept;

    [[nodiscard]] bool is_pending() const noexcept { return pending_; }
    [[nodiscard]] gsl::span<const std::byte> gradients() const {
        gradients_.wait();
        return buffer_.first(used_ * lp_bytes);
    }
    [[nodiscard]] const PinnedScratch<std::byte>& scratch() const noexcept { return gradients_; }
    [[nodiscard]] const CoreSplit& cores() const noexcept { return cores_; }

private:
    [[nodiscard]] BackupPlace backup_of(std::size_t begin, std::size_t count);
    [[nodiscard]] JobGradients fetch(const SubGroup& sub_group, const GradientSource& source, Stream& stream);
    void redo(float gradient_factor);

    const CoreSplit cores_;
    PinnedScratch<std::byte> gradients_;
    gsl::span<std::byte> buffer_;  // all of the scratch, for the present step
    std::vector<float> saved_hp_;
    std::vector<float> saved_exp_avg_;
    std::vector<float> saved_exp_avg_sq_;
    std::vector<std::byte> saved_lp_params_;

    StepTerms terms_{};
    std::size_t used_ = 0;  // elements of the scratch up to the last one handed over
    bool pending_ = false;
    std::vector<std::shared_ptr<SubGroupJob>> jobs_;
    AdamWorkers workers_;  // last, so that the threads are gone before what they work on
};

void SuperOffload::Impl::begin(const StepTerms& terms) {
    rollback();
    workers_.require_usable();
    buffer_ = gradients_.acquire(gradients_.capacity());
    terms_ = terms;
    used_ = 0;
    pending_ = true;
}

void SuperOffload::Impl::async_step(const SubGroup& sub_group, const GradientSource& gradients,
                                    Stream& stream) {
    const std::size_t elements = sub_group.state.hp.size();
    if (elements == 0) return;
    try {
        const std::size_t capacity = gradients_.capacity() / lp_bytes;
        const std::size_t end = sub_group.begin + elements;
        if (end > capacity) throw CapacityError(end, capacity, lp_bytes);
        jobs_.push_back(std::make_shared<SubGroupJob>(jobs_.size(), terms_, sub_group,
                                                      fetch(sub_group, gradients, stream),
                                                      backup_of(sub_group.begin, elements)));
        used_ = std::max(used_, end);
        workers_.submit(jobs_.back());
    } catch (...) {
        rollback();
        throw;
    }
}

JobGradients SuperOffload::Impl::fetch(const SubGroup& sub_group, const GradientSource& source,
                                       Stream& stream) {
    const std::size_t bytes = sub_group.state.hp.size() * lp_bytes;
    const auto part = buffer_.subspan(sub_group.begin * lp_bytes, bytes);
    JobGradients gradients{.sums = part, .addend = source.on_host, .has_sums = !source.on_device.empty()};
    if (!gradients.has_sums) return gradients;
    stream.copy_to_host(part.data(), source.on_device.data(), bytes);
    try {
        gradients.ready = stream.record();
    } catch (...) {
        stream.synchronize();  // a copy that nobody knows of must not be in flight
        throw;
    }
    gradients_.record_use(gradients.ready);
    return gradients;
}

BackupPlace SuperOffload::Impl::backup_of(std::size_t begin, std::size_t count) {
    return {.hp = gsl::span(saved_hp_).subspan(begin, count),
            .exp_avg = gsl::span(saved_exp_avg_).subspan(begin, count),
            .exp_avg_sq = gsl::span(saved_exp_avg_sq_).subspan(begin, count),
            .lp_params = gsl::span(saved_lp_params_).subspan(begin * lp_bytes, count * lp_bytes)};
}

void SuperOffload::Impl::wait() {
    try {
        workers_.wait();
    } catch (...) {
        rollback();
        throw;
    }
}

StepOutcome SuperOffload::Impl::validate(float gradient_factor) {
    wait();
    const bool right =
        std::bit_cast<std::uint32_t>(gradient_factor) == std::bit_cast<std::uint32_t>(terms_.gradient_factor);
    if (!right) redo(gradient_factor);
    jobs_.clear();
    pending_ = false;
    return right ? StepOutcome::kept : StepOutcome::redone;
}

void SuperOffload::Impl::redo(float gradient_factor) {
    terms_.gradient_factor = gradient_factor;
    for (const auto& job : jobs_) {
        job->revoke();
        job->restore();
        job->prepare(terms_);
    }
    try {
        for (const auto& job : jobs_) workers_.submit(job);
    } catch (...) {
        rollback();
        throw;
    }
    wait();
}

void SuperOffload::Impl::rollback() noexcept {
    workers_.cancel();
    for (const auto& job : jobs_) {
        job->revoke();
        job->restore();
    }
    jobs_.clear();
    pending_ = false;
}

SuperOffload::SuperOffload(std::size_t elements, double fraction, SuperOffloadOptions options,
                           const PinOptions& gradients, Site site)
    : impl_(std::make_unique<Impl>(elements, fraction, std::move(options), gradients, site)) {}

SuperOffload::~SuperOffload() = default;

void SuperOffload::begin(const StepTerms& terms) { impl_->begin(terms); }

void SuperOffload::async_step(const SubGroup& sub_group, const GradientSource& gradients, Stream& stream) {
    impl_->async_step(sub_group, gradients, stream);
}

void SuperOffload::wait() { impl_->wait(); }

StepOutcome SuperOffload::validate(float gradient_factor) { return impl_->validate(gradient_factor); }

void SuperOffload::rollback() noexcept { impl_->rollback(); }

bool SuperOffload::is_pending() const noexcept { return impl_->is_pending(); }

gsl::span<const std::byte> SuperOffload::gradients() const { return impl_->gradients(); }

std::shared_ptr<void> SuperOffload::yield_cores() { return std::make_shared<ScopedAffinity>(cores().rest); }

bool SuperOffload::is_pinned() const noexcept { return impl_->scratch().is_pinned(); }

std::size_t SuperOffload::capacity_bytes() const noexcept { return impl_->scratch().capacity_bytes(); }

const CoreSplit& SuperOffload::cores() const noexcept { return impl_->cores(); }

std::unique_ptr<SubGroupStepper> make_super_offload(std::size_t elements, double fraction,
                                                    const SuperOffloadOptions& options,
                                                    const PinOptions& gradients, const Site& site) {
    return std::make_unique<SuperOffload>(elements, fraction, options, gradients, site);
}

}  // namespace pinwarden::zero
