// SPDX-License-Identifier: Apache-2.0
#include "command/train/char_model.hpp"

#include "command/train/matrix.hpp"
#include "command/train/random.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pinwarden::command {

namespace {

void require_at_least_one(std::size_t value, const char* what) {
    if (value == 0) throw SizeError(fmt::format("CharModel: {} is 0; it must be at least 1.", what));
}

/// The elements of `tensor` in a flat sequence of parameters or gradients.
template <typename Real>
gsl::span<Real> part(gsl::span<Real> flat, const ModelTensor& tensor) {
    return flat.subspan(tensor.offset, tensor.size());
}

/// Puts the embeddings of each window side by side: one row of `context * embedding` numbers per window.
template <typename Real>
std::vector<Real> embed(gsl::span<const Real> embeddings, const std::vector<std::uint8_t>& characters,
                        std::size_t width) {
    std::vector<Real> result(characters.size() * width);
    for (std::size_t i = 0; i < characters.size(); ++i) {
        const Real* const row = embeddings.data() + characters[i] * width;
        std::copy(row, row + width, result.data() + i * width);
    }
    return result;
}

/// `inputs * weights + bias`, one row per window.
template <typename Real>
std::vector<Real> affine(const std::vector<Real>& inputs, gsl::span<const Real> weights,
                         gsl::span<const Real> bias, std::size_t windows) {
    const std::size_t outputs = bias.size();
    std::vector<Real> result(windows * outputs);
    fill_rows(bias, gsl::span<Real>(result), windows);
    add_product(gsl::span<const Real>(inputs), weights, gsl::span<Real>(result), windows,
                inputs.size() / windows, outputs);
    return result;
}

/// Turns each row of `scores` into the derivative of the mean loss by these scores, (probability - 1 if it is
/// the target) / windows, and returns the mean loss.
template <typename Real>
double softmax_cross_entropy(std::vector<Real>& scores, const std::vector<std::uint8_t>& targets) {
    const std::size_t windows = targets.size();
    const std::size_t vocabulary = scores.size() / windows;
    const auto scale = static_cast<Real>(1.0 / static_cast<double>(windows));
    double loss = 0.0;
    for (std::size_t window = 0; window < windows; ++window) {
        const gsl::span<Real> row(scores.data() + window * vocabulary, vocabulary);
        const Real largest = *std::max_element(row.begin(), row.end());
        const Real target_score = row[targets[window]] - largest;
        Real sum = 0;
        for (Real& score : row) {
            score = std::exp(score - largest);  // without the shift, a large score would overflow
            sum += score;
        }
        loss += static_cast<double>(std::log(sum) - target_score);
        const Real factor = scale / sum;
        for (Real& score : row) score *= factor;
        row[targets[window]] -= scale;
    }
    return loss / static_cast<double>(windows);
}

/// Passes the derivative by a layer's outputs back through `outputs = inputs * weights + bias`: adds the
/// derivatives by its weights and bias to theirs, and returns the derivative by its inputs.
template <typename Real>
std::vector<Real> affine_backward(const std::vector<Real>& inputs, gsl::span<const Real> weights,
                                  const std::vector<Real>& by_outputs, gsl::span<Real> by_weights,
                                  gsl::span<Real> by_bias, std::size_t windows) {
    const std::size_t input_count = inputs.size() / windows;
    const std::size_t output_count = by_bias.size();
    const gsl::span<const Real> outgoing(by_outputs);

    const auto inputs_transposed = transposed(gsl::span<const Real>(inputs), windows, input_count);
    add_product(gsl::span<const Real>(inputs_transposed), outgoing, by_weights, input_count, windows,
                output_count);
    add_rows(outgoing, by_bias, windows, output_count);

    std::vector<Real> by_inputs(inputs.size());
    const auto weights_transposed = transposed(weights, input_count, output_count);
    add_product(outgoing, gsl::span<const Real>(weights_transposed), gsl::span<Real>(by_inputs), windows,
                output_count, input_count);
    return by_inputs;
}

}  // namespace

CharModel::CharModel(const CharModelShape& shape) : shape_(shape) {
    require_at_least_one(shape.vocabulary, "the vocabulary");
    require_at_least_one(shape.context, "the context");
    require_at_least_one(shape.embedding, "the embedding");
    require_at_least_one(shape.hidden, "the number of hidden units");
    require_at_least_one(shape.layers, "the number of hidden layers");
    constexpr std::size_t characters = 256;
    if (shape.vocabulary > characters) {
        throw SizeError(fmt::format("CharModel: a vocabulary of {} characters; bytes have {} values.",
                                    shape.vocabulary, characters));
    }

    std::size_t inputs = checked_bytes(shape.context, shape.embedding);
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
        add_tensor(fmt::format("hidden{}.weight", layer), inputs, shape.hidden, true);
        inputs = shape.hidden;
    }
    add_tensor("output.weight", shape.hidden, shape.vocabulary, true);
    add_tensor("embedding", shape.vocabulary, shape.embedding, false);
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
        add_tensor(fmt::format("hidden{}.bias", layer), 1, shape.hidden, false);
    }
    add_tensor("output.bias", 1, shape.vocabulary, false);
}

void CharModel::add_tensor(std::string name, std::size_t rows, std::size_t columns, bool decays) {
    const std::size_t size = checked_bytes(rows, columns);
    if (size > SIZE_MAX / sizeof(double) - parameter_count_) {
        throw SizeError(fmt::format("CharModel: {} of {} x {} elements is more than can be addressed.", name,
                                    rows, columns));
    }
    tensors_.push_back({std::move(name), rows, columns, parameter_count_, decays});
    parameter_count_ += size;
}

std::vector<float> CharModel::initial_parameters(std::uint64_t seed) const {
    RandomEngine random(seed);
    std::vector<float> parameters(parameter_count_);
    const std::size_t embedding_tensor = shape_.layers + 1;
    for (std::size_t t = 0; t <= embedding_tensor; ++t) {
        const ModelTensor& tensor = tensors_[t];
        // A uniform distribution over [-r, r) has the variance r^2 / 3; embeddings get the variance 1.
        const double inputs = t == embedding_tensor ? 1.0 : static_cast<double>(tensor.rows);
        const double range = std::sqrt(3.0 / inputs);
        for (float& value : part(gsl::span<float>(parameters), tensor)) {
            value = static_cast<float>(range * (2.0 * uniform_unit(random) - 1.0));
        }
    }
    return parameters;
}

template <std::floating_point Real>
double CharModel::loss_and_gradients(gsl::span<const Real> parameters, const Batch& batch,
                                     gsl::span<Real> gradients) const {
    const std::size_t windows = batch.targets.size();
    const std::size_t layers = shape_.layers;
    // The order that the constructor adds them in.
    const auto weight = [&](std::size_t layer) -> const ModelTensor& { return tensors_[layer]; };
    const auto bias = [&](std::size_t layer) -> const ModelTensor& { return tensors_[layers + 2 + layer]; };
    const ModelTensor& embedding = tensors_[layers + 1];

    // Forward: activations[0] is the input, activations[l + 1] what hidden layer l makes of it.
    std::vector<std::vector<Real>> activations;
    activations.push_back(embed(part(parameters, embedding), batch.contexts, shape_.embedding));
    for (std::size_t layer = 0; layer < layers; ++layer) {
        auto units = affine(activations[layer], part(parameters, weight(layer)),
                            part(parameters, bias(layer)), windows);
        for (Real& unit : units) unit = std::tanh(unit);
        activations.push_back(std::move(units));
    }
    auto derivative = affine(activations[layers], part(parameters, weight(layers)),
                             part(parameters, bias(layers)), windows);
    const double loss = softmax_cross_entropy(derivative, batch.targets);

    // Backward: `derivative` is the loss's derivative by the outputs of the layer that comes next.
    std::fill(gradients.begin(), gradients.end(), Real{0});
    for (std::size_t layer = layers + 1; layer-- > 0;) {
        derivative = affine_backward(activations[layer], part(parameters, weight(layer)), derivative,
                                     part(gradients, weight(layer)), part(gradients, bias(layer)), windows);
        if (layer == 0) break;
        for (std::size_t i = 0; i < derivative.size(); ++i) {
            const Real unit = activations[layer][i];
            derivative[i] *= Real{1} - unit * unit;  // the derivative of tanh, by its value
        }
    }
    const gsl::span<Real> by_embeddings = part(gradients, embedding);
    for (std::size_t i = 0; i < batch.contexts.size(); ++i) {
        Real* const row = by_embeddings.data() + batch.contexts[i] * shape_.embedding;
        for (std::size_t j = 0; j < shape_.embedding; ++j) row[j] += derivative[i * shape_.embedding + j];
    }
    return loss;
}

template double CharModel::loss_and_gradients<float>(gsl::span<const float>, const Batch&,
                                                     gsl::span<float>) const;
template double CharModel::loss_and_gradients<double>(gsl::span<const double>, const Batch&,
                                                      gsl::span<double>) const;

}  // namespace pinwarden::command
