// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What a model tells an engine: its parameters, gathered in groups that are optimised alike.
///
///     const std::vector<zero::ParameterGroup> groups{
///         {.name = "matrices", .parameters = {{"hidden.weight", weights}}},
///         {.name = "biases", .parameters = {{"hidden.bias", biases}}, .weight_decay = 0.0}};

#include <optional>
#include <string>
#include <vector>

#include <gsl/span>

namespace pinwarden::zero {

/// One parameter: its name in reports and its values before training, which the engine copies.
struct Parameter {
    std::string name;
    gsl::span<const float> initial;  ///< may be empty; read only while the engine is constructed
};

/// Parameters that share a weight decay and a learning rate.
struct ParameterGroup {
    std::string name;
    std::vector<Parameter> parameters;
    /// Unset: the configuration's `optimizer.params.weight_decay`.
    std::optional<double> weight_decay{};
    /// Unset: the configuration's `optimizer.params.lr`. A scheduler in the configuration overrides both.
    std::optional<double> learning_rate{};
};

}  // namespace pinwarden::zero
