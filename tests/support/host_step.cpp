// SPDX-License-Identifier: Apache-2.0
#include <support/host_step.hpp>

#include <algorithm>
#include <bit>
#include <random>
#include <utility>

#include <pinwarden/own/copy.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/zero/low_precision.hpp>

namespace pinwarden::testing {
namespace {

gsl::span<float> as_floats(std::vector<std::uint32_t>& bits) {
    return {reinterpret_cast<float*>(bits.data()), bits.size()};
}

gsl::span<std::byte> as_bytes_of(std::vector<std::uint16_t>& numbers) {
    return {reinterpret_cast<std::byte*>(numbers.data()), numbers.size() * sizeof(std::uint16_t)};
}

template <typename Lp>
void step_all(const StepWords& words, const zero::SubGroupUpdate& all,
              const std::vector<std::uint16_t>& gradients) {
    const gsl::span<const Lp> typed(reinterpret_cast<const Lp*>(gradients.data()), gradients.size());
    zero::adam_update(words.number, all.options, all.state, typed, words.factor);
    zero::narrow(all.state.hp, gsl::span<Lp>(reinterpret_cast<Lp*>(all.lp_params.data()), gradients.size()));
}

std::vector<std::uint32_t> random_floats(std::mt19937& random, std::size_t count, bool positive) {
    std::normal_distribution<float> distribution;
    std::vector<std::uint32_t> bits(count);
    for (auto& word : bits) {
        const float value = distribution(random);
        word = std::bit_cast<std::uint32_t>(positive ? value * value : value);
    }
    return bits;
}

}  // namespace

HostStep::HostStep(std::size_t elements, std::size_t largest, std::uint32_t seed) : seed_(seed) {
    std::mt19937 random(seed);
    arrays_ = {.hp = random_floats(random, elements, false),
               .exp_avg = random_floats(random, elements, false),
               .exp_avg_sq = random_floats(random, elements, true),
               .lp_params = std::vector<std::uint16_t>(elements, std::uint16_t{0xABCD})};
    std::uniform_int_distribution<std::size_t> size(0, largest);
    for (std::size_t end = 0; end < elements;) {
        end = std::min(end + size(random), elements);
        ends_.push_back(end);
    }
    device_gradients_ = DeviceBuffer<std::byte>(elements * sizeof(std::uint16_t), stream_);
    make_gradients(zero::LowPrecision::bf16);
}

void HostStep::fill_with_bits() {
    std::mt19937 random(seed_ + 1);
    for (auto* const array : {&arrays_.hp, &arrays_.exp_avg, &arrays_.exp_avg_sq})
        for (auto& word : *array) word = static_cast<std::uint32_t>(random());
    for (auto& word : arrays_.lp_params) word = static_cast<std::uint16_t>(random());
}

void HostStep::make_gradients(zero::LowPrecision format) {
    std::mt19937 random(++seed_);
    std::normal_distribution<float> distribution;
    gradients_.resize(elements());
    for (auto& word : gradients_) {
        const float value = distribution(random);
        word = format == zero::LowPrecision::bf16 ? zero::Bf16::from_float(value).bits
                                                  : zero::Fp16::from_float(value).bits;
    }
    PinnedBuffer<std::byte> staging(device_gradients_.size(), {.pinning = Pinning::pageable});
    const auto bytes = as_bytes_of(gradients_);
    std::copy(bytes.begin(), bytes.end(), staging.data());
    copy(staging, device_gradients_, *stream_);
    stream_->synchronize();
}

zero::SubGroupUpdate HostStep::update_of(HostArrays& arrays, std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    zero::SubGroupUpdate update;
    update.options.weight_decay = 0.01;
    update.state = {.hp = as_floats(arrays.hp).subspan(begin, count),
                    .exp_avg = as_floats(arrays.exp_avg).subspan(begin, count),
                    .exp_avg_sq = as_floats(arrays.exp_avg_sq).subspan(begin, count)};
    update.lp_params = as_bytes_of(arrays.lp_params).subspan(begin * 2, count * 2);
    return update;
}

zero::SubGroupStep HostStep::step_of(const StepWords& words) {
    zero::SubGroupStep step{.format = words.format, .number = words.number, .expected_factor = words.factor};
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
        step.sub_groups.push_back(update_of(arrays_, begin, end));
        step.sub_groups.back().gradients =
            device_gradients_.device_span().subspan(begin * 2, (end - begin) * 2);
        begin = end;
    }
    return step;
}

zero::StepperSettings HostStep::settings(const PinOptions& memory) const {
    return {.accelerator = accelerator_,
            .stream = stream_,
            .offload = {.device = zero::OffloadDevice::cpu},
            .memory = memory,
            .gradient_bytes = elements() * 2};
}

void HostStep::speculate(zero::SubGroupStepper& stepper, const StepWords& words) {
    stepper.start(step_of(words));
    for (std::size_t i = 0; i < ends_.size(); ++i) stepper.gradients_ready(i);
}

HostArrays HostStep::stepped(const StepWords& words) const {
    HostArrays result = arrays_;
    const auto all = update_of(result, 0, elements());
    if (words.format == zero::LowPrecision::bf16) {
        step_all<zero::Bf16>(words, all, gradients_);
    } else {
        step_all<zero::Fp16>(words, all, gradients_);
    }
    return result;
}

}  // namespace pinwarden::testing
