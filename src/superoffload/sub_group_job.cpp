// SPDX-License-Identifier: Apache-2.0
#include "superoffload/sub_group_job.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include <pinwarden/zero/adam.hpp>

#include "zero/byte_view.hpp"
#include "zero/kernels.hpp"

namespace pinwarden::zero {
namespace {

// Small enough for a core's own cache with the copy, and for revoke() not to wait long.
constexpr std::size_t piece_elements = 16 * 1024;

// How often a worker that waits for gradients looks whether it is still wanted.
constexpr std::chrono::milliseconds glance{2};

template <typename Lp>
void step_elements(const StepTerms& terms, const JobArrays& group, std::size_t begin, std::size_t count) {
    const AdamState piece{.hp = group.state.hp.subspan(begin, count),
                          .exp_avg = group.state.exp_avg.subspan(begin, count),
                          .exp_avg_sq = group.state.exp_avg_sq.subspan(begin, count)};
    adam_update(terms.number, group.options, piece, view_as<Lp>(group.gradients).subspan(begin, count),
                terms.gradient_factor);
    narrow(piece.hp, view_as<Lp>(group.lp_params).subspan(begin, count));
}

void copy_elements(gsl::span<const float> from, gsl::span<float> to, std::size_t begin,
                   std::size_t count) noexcept {
    std::copy_n(from.data() + begin, count, to.data() + begin);
}

void copy_bytes(gsl::span<const std::byte> from, gsl::span<std::byte> to, std::size_t begin,
                std::size_t count) noexcept {
    std::copy_n(from.data() + begin * lp_bytes, count * lp_bytes, to.data() + begin * lp_bytes);
}

// Holds back pthread_cancel() of this thread for a scope.
class CancellationBlock {
public:
    CancellationBlock() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    CancellationBlock(const CancellationBlock&) = delete;
    CancellationBlock& operator=(const CancellationBlock&) = delete;
    ~CancellationBlock() { ::pthread_setcancelstate(before_, nullptr); }

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace

SubGroupJob::SubGroupJob(std::size_t number, const StepTerms& terms, JobArrays arrays,
                         const BackupPlace& backup)
    : number_(number), arrays_(std::move(arrays)), backup_(backup), terms_(terms) {}

void SubGroupJob::run(const std::function<void(std::size_t)>& before, std::atomic<std::uint64_t>& progress) {
    stage_ = JobStage::awaiting_gradients;
    if (!await_gradients()) return;
    stage_ = JobStage::before_step;
    if (before) before(number_);
    stage_ = JobStage::stepping;
    while (step_piece()) ++progress;
    stage_ = JobStage::finished;
}

bool SubGroupJob::await_gradients() const {
    // A token waits without throwing, and a thread that is cancelled in there would end the process instead of itself.
    const CancellationBlock no_cancellation;
    while (!revoked_) {
        if (arrays_.ready->wait_for(glance)) return true;
    }
    return false;
}

bool SubGroupJob::step_piece() {
    const std::lock_guard lock(lease_);
    if (revoked_) return false;
    const std::size_t left = arrays_.state.hp.size() - stepped_;
    if (left == 0) return false;
    const std::size_t count = std::min(left, piece_elements);
    save(stepped_, count);
    update(stepped_, count);
    stepped_ += count;
    return true;
}

void SubGroupJob::save(std::size_t begin, std::size_t count) noexcept {
    copy_elements(arrays_.state.hp, backup_.hp, begin, count);
    copy_elements(arrays_.state.exp_avg, backup_.exp_avg, begin, count);
    copy_elements(arrays_.state.exp_avg_sq, backup_.exp_avg_sq, begin, count);
    copy_bytes(arrays_.lp_params, backup_.lp_params, begin, count);
}

void SubGroupJob::update(std::size_t begin, std::size_t count) {
    if (terms_.format == LowPrecision::bf16) {
        step_elements<Bf16>(terms_, arrays_, begin, count);
    } else {
        step_elements<Fp16>(terms_, arrays_, begin, count);
    }
}

void SubGroupJob::revoke() noexcept {
    revoked_ = true;
    const std::lock_guard lock(lease_);  // what was being stepped is whole now
}

void SubGroupJob::restore() noexcept {
    copy_elements(backup_.hp, arrays_.state.hp, 0, stepped_);
    copy_elements(backup_.exp_avg, arrays_.state.exp_avg, 0, stepped_);
    copy_elements(backup_.exp_avg_sq, arrays_.state.exp_avg_sq, 0, stepped_);
    copy_bytes(backup_.lp_params, arrays_.lp_params, 0, stepped_);
    stepped_ = 0;
}

void SubGroupJob::prepare(const StepTerms& terms) noexcept {
    terms_ = terms;
    stage_ = JobStage::queued;
    ended_ = false;
    revoked_ = false;
}

std::string SubGroupJob::describe() const {
    switch (stage()) {
        case JobStage::queued: return fmt::format("sub-group {} waits for a worker", number_);
        case JobStage::awaiting_gradients:
            return fmt::format("sub-group {} waits for its gradients on stream '{}'", number_,
                               arrays_.ready->queue_name());
        case JobStage::before_step:
            return fmt::format("sub-group {} has not come back from before_sub_group", number_);
        case JobStage::stepping: return fmt::format("sub-group {} is being stepped", number_);
        case JobStage::finished: break;
    }
    return fmt::format("sub-group {} is finished", number_);
}

}  // namespace pinwarden::zero
