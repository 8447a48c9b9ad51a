// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A small language model over characters, with its gradients by hand: something real for an engine to train.
///
/// It looks at a window of `context` characters and predicts the next one: each character's embedding, all of
/// them side by side, `layers` hidden layers of `tanh` units, and a softmax over the vocabulary; the loss is
/// the mean cross-entropy in nats. It is the neural probabilistic language model of Bengio et al., "A Neural
/// Probabilistic Language Model", JMLR 3 (2003), without its direct connections.
///
/// All parameters lie in one flat sequence: first the matrices, which weight decay may shrink, then the
/// embeddings and the biases, which it should leave alone.
///
/// ```
/// const CharModel model({.vocabulary = 64});
/// std::vector<float> parameters = model.initial_parameters(1);
/// const double loss = model.loss_and_gradients<float>(parameters, batch, gradients);
/// ```

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gsl/span>

namespace pinwarden::command {

/// The sizes of a model; the defaults have some ninety thousand parameters over the characters of an English
/// text.
struct CharModelShape {
    std::size_t vocabulary = 0;  ///< different characters, at least one
    std::size_t context = 16;    ///< characters looked at, at least one
    std::size_t embedding = 24;  ///< numbers per character, at least one
    std::size_t hidden = 192;    ///< units per hidden layer, at least one
    std::size_t layers = 1;      ///< hidden layers, at least one
};

/// One tensor of the flat sequence of parameters.
struct ModelTensor {
    std::string name;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t offset = 0;  ///< of its first element in the flat sequence
    bool decays = false;     ///< a matrix, as opposed to embeddings and biases

    [[nodiscard]] std::size_t size() const noexcept { return rows * columns; }
};

/// What the model learns from: `targets.size()` windows, and the character that follows each.
struct Batch {
    std::vector<std::uint8_t> contexts;  ///< `context` character numbers per window, window after window
    std::vector<std::uint8_t> targets;   ///< one character number per window
};

/// The model: its shape and its mathematics; the parameters are the caller's. Immutable, hence thread-safe.
class CharModel {
public:
    /// @throws SizeError if one of the sizes is 0, the vocabulary exceeds 256, or the parameters cannot be
    /// counted.
    explicit CharModel(const CharModelShape& shape);

    [[nodiscard]] const CharModelShape& shape() const noexcept { return shape_; }

    /// The tensors in the order of the flat sequence, those that decay first.
    [[nodiscard]] const std::vector<ModelTensor>& tensors() const noexcept { return tensors_; }

    /// The length of the flat sequence.
    [[nodiscard]] std::size_t parameter_count() const noexcept { return parameter_count_; }

    /// Random matrices and embeddings, zero biases; the same for the same seed on every machine.
    /// Matrices are uniform with the variance 1 / inputs, which keeps the activations' variance from layer to
    /// layer.
    [[nodiscard]] std::vector<float> initial_parameters(std::uint64_t seed) const;

    /// The mean loss of the batch in nats per character, and its derivative by every parameter, written to
    /// `gradients`. The result depends on nothing but the arguments, to the last bit.
    /// @pre Both spans have parameter_count() elements; the batch has a window and no number beyond the
    /// vocabulary.
    template <std::floating_point Real>
    [[nodiscard]] double loss_and_gradients(gsl::span<const Real> parameters, const Batch& batch,
                                            gsl::span<Real> gradients) const;

private:
    void add_tensor(std::string name, std::size_t rows, std::size_t columns, bool decays);

    CharModelShape shape_;
    std::vector<ModelTensor> tensors_;
    std::size_t parameter_count_ = 0;
};

extern template double CharModel::loss_and_gradients<float>(gsl::span<const float>, const Batch&,
                                                            gsl::span<float>) const;
extern template double CharModel::loss_and_gradients<double>(gsl::span<const double>, const Batch&,
                                                             gsl::span<double>) const;

}  // namespace pinwarden::command
