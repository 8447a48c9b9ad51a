// SPDX-License-Identifier: Apache-2.0
#include <support/least_squares.hpp>

#include <array>
#include <cstdint>

namespace pinwarden::testing {
namespace {

// A fixed pseudo-random number in [-1, 1) for each position.
float noise(std::uint64_t position) {
    std::uint64_t bits = position * 0x9E3779B97F4A7C15U + 0x632BE59BD9B4E019U;
    bits ^= bits >> 29U;
    bits *= 0xBF58476D1CE4E5B9U;
    bits ^= bits >> 32U;
    return static_cast<float>(bits >> 40U) / static_cast<float>(1U << 23U) - 1.0F;
}

std::vector<float> noises(std::size_t count, std::uint64_t first, float scale) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = scale * noise(first + i);
    return values;
}

}  // namespace

LeastSquares::LeastSquares()
    : weights_(noises(inputs * outputs, 1'000, 0.1F)),
      biases_(noises(outputs, 900'000, 0.1F)),
      true_weights_(noises(inputs * outputs, 2'000'000, 0.5F)) {}

std::vector<zero::ParameterGroup> LeastSquares::groups() const {
    return {{.name = "matrices", .parameters = {{"empty", {}}, {"weights", weights_}}},
            {.name = "biases", .parameters = {{"biases", biases_}}, .weight_decay = 0.0},
            {.name = "nothing", .parameters = {}}};
}

zero::LossFunction LeastSquares::micro_batch(std::size_t index) const {
    return [this, index](gsl::span<const float> parameters, gsl::span<float> gradients) {
        const std::size_t biases = inputs * outputs;
        double loss = 0.0;
        for (std::size_t sample = 0; sample < samples; ++sample) {
            std::array<float, inputs> x{};
            for (std::size_t i = 0; i < inputs; ++i)
                x[i] = noise(5'000'000 + (index * samples + sample) * inputs + i);
            for (std::size_t o = 0; o < outputs; ++o) {
                float error = parameters[biases + o] - 0.25F;
                for (std::size_t i = 0; i < inputs; ++i) {
                    error += (parameters[o * inputs + i] - true_weights_[o * inputs + i]) * x[i];
                }
                constexpr float share = 1.0F / static_cast<float>(samples * outputs);
                loss += static_cast<double>(error) * static_cast<double>(error) * static_cast<double>(share);
                const float slope = 2.0F * error * share;
                for (std::size_t i = 0; i < inputs; ++i) gradients[o * inputs + i] += slope * x[i];
                gradients[biases + o] += slope;
            }
        }
        return loss;
    };
}

}  // namespace pinwarden::testing
