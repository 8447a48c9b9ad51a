// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A small real regression to train in the tests of engines: y = W x + b on fixed data, gradients by hand.
///
/// Everything is computed in a fixed order from fixed numbers, so that two runs agree to the bit.
///
/// ```
/// LeastSquares model;
/// zero::Engine engine(config, accelerator, model.groups());
/// const double loss = engine.backward(model.micro_batch(0));
/// ```

#include <cstddef>
#include <vector>

#include <gsl/span>

#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/parameter_group.hpp>

namespace pinwarden::testing {

/// The model and its data. The groups point into it.
class LeastSquares {
public:
    static constexpr std::size_t inputs = 96;
    static constexpr std::size_t outputs = 16;
    static constexpr std::size_t samples = 4;  ///< in a micro-batch
    static constexpr std::size_t parameter_count = inputs * outputs + outputs;

    LeastSquares();

    /// Three groups: `matrices`, with a parameter of no elements too; `biases`, without weight decay; and one
    /// with nothing in it.
    [[nodiscard]] std::vector<zero::ParameterGroup> groups() const;

    /// Mean squared error of the samples of one micro-batch. There are as many as one asks for, all
    /// different.
    [[nodiscard]] zero::LossFunction micro_batch(std::size_t index) const;

private:
    std::vector<float> weights_;
    std::vector<float> biases_;
    std::vector<float> true_weights_;
};

}  // namespace pinwarden::testing
