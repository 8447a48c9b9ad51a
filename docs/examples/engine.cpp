// SPDX-License-Identifier: Apache-2.0

// Train a line through points with a ZeRO-2 engine, offload its states, and destroy it without reloading them.

#include <array>
#include <cmath>
#include <iostream>

#include <pinwarden/pinwarden.hpp>
#include <pinwarden/zero.hpp>

namespace {

constexpr std::string_view configuration = R"({
    "train_batch_size": 1,
    "bf16": { "enabled": true },
    "optimizer": { "type": "AdamW", "params": { "lr": 0.05, "weight_decay": 0.0 } },
    "zero_optimization": { "stage": 2 }
})";

// The mean squared error of `slope * x + offset` against `3 * x - 1`, and its gradients.
double error_of_line(gsl::span<const float> parameters, gsl::span<float> gradients) {
    double loss = 0.0;
    for (const float x : {-1.0F, -0.5F, 0.0F, 0.5F, 1.0F}) {
        const float difference = parameters[0] * x + parameters[1] - (3.0F * x - 1.0F);
        loss += static_cast<double>(difference * difference) / 5.0;
        gradients[0] += 2.0F * difference * x / 5.0F;
        gradients[1] += 2.0F * difference / 5.0F;
    }
    return loss;
}

}  // namespace

int main() {
    namespace zero = pinwarden::zero;
    const std::array<float, 2> start = {0.0F, 0.0F};
    const std::array groups = {
        zero::ParameterGroup{.name = "line", .parameters = {{.name = "slope and offset", .initial = start}}}};

    zero::Engine engine(zero::read_config_text(configuration, "the example"), pinwarden::make_cpu_accelerator(),
                        groups);
    double loss = 0.0;
    for (int step = 0; step < 300; ++step) {
        loss = engine.backward(error_of_line);
        engine.step();
    }

    // What DeepSpeed calls pin_memory; with no CPU offload configured this is where its pins leaked.
    engine.offload_states(zero::OffloadStates::all(), pinwarden::Pinning::pinned, true);
    const auto held = pinwarden::audit::Registry::instance().counts().live;
    engine.destroy();

    const auto left = pinwarden::audit::Registry::instance().counts().live;
    std::cout << "loss " << loss << ", " << held.pins << " pins before destroy(), " << left.pins << " after\n";
    return loss < 0.01 && held.pins > 0 && left.pins == 0 ? 0 : 1;
}
