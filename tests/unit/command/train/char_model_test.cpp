// SPDX-License-Identifier: Apache-2.0
#include <command/train/char_model.hpp>

#include <pinwarden/core/error.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace pinwarden::command;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr CharModelShape small = {.vocabulary = 5, .context = 3, .embedding = 2, .hidden = 6, .layers = 1};

/// Windows that use every character in different places; one character is a target twice.
Batch some_batch(const CharModelShape& shape) {
    Batch batch;
    constexpr std::size_t windows = 7;
    for (std::size_t i = 0; i < windows * shape.context; ++i) {
        batch.contexts.push_back(static_cast<std::uint8_t>((i * i + i / 2) % shape.vocabulary));
    }
    for (std::size_t i = 0; i < windows; ++i) {
        batch.targets.push_back(static_cast<std::uint8_t>((3 * i + 1) % shape.vocabulary));
    }
    return batch;
}

std::vector<double> widened(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

double loss_at(const CharModel& model, const std::vector<double>& parameters, const Batch& batch) {
    std::vector<double> unused(parameters.size());
    return model.loss_and_gradients<double>(parameters, batch, unused);
}

/// The largest difference between the gradients by hand and those by central differences.
double largest_gradient_error(const CharModelShape& shape) {
    const CharModel model(shape);
    const Batch batch = some_batch(shape);
    std::vector<double> parameters = widened(model.initial_parameters(3));
    std::vector<double> by_hand(parameters.size());
    static_cast<void>(model.loss_and_gradients<double>(parameters, batch, by_hand));

    constexpr double step = 1e-5;
    double largest = 0.0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const double value = parameters[i];
        parameters[i] = value + step;
        const double above = loss_at(model, parameters, batch);
        parameters[i] = value - step;
        const double below = loss_at(model, parameters, batch);
        parameters[i] = value;
        largest = std::max(largest, std::abs((above - below) / (2 * step) - by_hand[i]));
    }
    return largest;
}

}  // namespace

TEST_CASE("The gradients by hand are those of finite differences, for every parameter") {
    CharModelShape shape = small;
    shape.layers = GENERATE(1U, 2U, 3U);
    CHECK(largest_gradient_error(shape) < 1e-9);
}

TEST_CASE("Gradients are right for shapes whose sizes are no multiples of anything") {
    CHECK(largest_gradient_error({.vocabulary = 1, .context = 1, .embedding = 1, .hidden = 1, .layers = 1}) <
          1e-9);
    CHECK(largest_gradient_error({.vocabulary = 9, .context = 5, .embedding = 3, .hidden = 11, .layers = 2}) <
          1e-9);
}

TEST_CASE("A model whose parameters are all zero finds every character equally likely") {
    const CharModel model(small);
    const std::vector<double> parameters(model.parameter_count());
    CHECK_THAT(loss_at(model, parameters, some_batch(small)), WithinRel(std::log(5.0), 1e-14));
}

TEST_CASE("The loss is the mean over the windows of what each one costs alone") {
    const CharModel model(small);
    const std::vector<double> parameters = widened(model.initial_parameters(1));
    const Batch batch = some_batch(small);
    double sum = 0.0;
    for (std::size_t i = 0; i < batch.targets.size(); ++i) {
        const auto start = batch.contexts.begin() + static_cast<std::ptrdiff_t>(i * small.context);
        sum += loss_at(model, parameters,
                       {.contexts = {start, start + static_cast<std::ptrdiff_t>(small.context)},
                        .targets = {batch.targets[i]}});
    }
    const auto windows = static_cast<double>(batch.targets.size());
    CHECK_THAT(loss_at(model, parameters, batch), WithinRel(sum / windows, 1e-13));
}

TEST_CASE("Single precision computes what double precision does, within its own") {
    const CharModel model(small);
    const std::vector<float> parameters = model.initial_parameters(1);
    const std::vector<double> wide = widened(parameters);
    std::vector<float> gradients(parameters.size());
    std::vector<double> wide_gradients(parameters.size());
    const Batch batch = some_batch(small);
    const double loss = model.loss_and_gradients<float>(parameters, batch, gradients);
    CHECK_THAT(loss, WithinRel(model.loss_and_gradients<double>(wide, batch, wide_gradients), 1e-6));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        CHECK_THAT(static_cast<double>(gradients[i]), WithinAbs(wide_gradients[i], 1e-6));
    }
}

TEST_CASE("Gradients replace what was there, and are the same bits each time") {
    const CharModel model(small);
    const std::vector<float> parameters = model.initial_parameters(1);
    const Batch batch = some_batch(small);
    std::vector<float> first(parameters.size(), 1e9F);
    std::vector<float> second(parameters.size(), -3.0F);
    const double loss = model.loss_and_gradients<float>(parameters, batch, first);
    CHECK(model.loss_and_gradients<float>(parameters, batch, second) == loss);
    CHECK(first == second);
}

TEST_CASE("Scores far apart neither overflow nor lose the loss") {
    const CharModel model({.vocabulary = 2, .context = 1, .embedding = 1, .hidden = 1, .layers = 1});
    std::vector<double> parameters(model.parameter_count());
    parameters[parameters.size() - 2] = 2000.0;  // the bias of character 0
    CHECK_THAT(loss_at(model, parameters, {.contexts = {0}, .targets = {1}}), WithinRel(2000.0, 1e-12));
    CHECK_THAT(loss_at(model, parameters, {.contexts = {0}, .targets = {0}}), WithinAbs(0.0, 1e-12));
}

TEST_CASE("The tensors fill the flat sequence without gaps, those that decay first") {
    const CharModel model({.vocabulary = 7, .context = 3, .embedding = 2, .hidden = 4, .layers = 2});
    std::size_t offset = 0;
    bool decays = true;
    for (const ModelTensor& tensor : model.tensors()) {
        CHECK(tensor.offset == offset);
        CHECK((decays || !tensor.decays));
        decays = tensor.decays;
        offset += tensor.size();
    }
    CHECK(offset == model.parameter_count());
    CHECK(offset == (6 * 4 + 4 * 4 + 4 * 7) + (7 * 2) + (4 + 4 + 7));
    CHECK(model.tensors().front().name == "hidden0.weight");
    CHECK(model.tensors().back().name == "output.bias");
}

TEST_CASE("Initial values depend on the seed alone and keep the variance of the activations") {
    const CharModel model({.vocabulary = 60});
    const std::vector<float> values = model.initial_parameters(11);
    CHECK(values == model.initial_parameters(11));
    CHECK(values != model.initial_parameters(12));
    for (const ModelTensor& tensor : model.tensors()) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
        const auto last = first + static_cast<std::ptrdiff_t>(tensor.size());
        const double variance =
            std::inner_product(first, last, first, 0.0) / static_cast<double>(tensor.size());
        INFO(tensor.name);
        if (tensor.name.ends_with("bias")) {
            CHECK(variance == 0.0);
        } else {
            const double wanted = tensor.name == "embedding" ? 1.0 : 1.0 / static_cast<double>(tensor.rows);
            CHECK(variance == Catch::Approx(wanted).epsilon(0.1));
        }
    }
}

TEST_CASE("A shape that is no model is refused") {
    using pinwarden::SizeError;
    CHECK_THROWS_AS(CharModel({.vocabulary = 0}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 257}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 2, .context = 0}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 2, .embedding = 0}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 2, .hidden = 0}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 2, .layers = 0}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 2, .context = SIZE_MAX, .embedding = 2}), SizeError);
    CHECK_THROWS_AS(CharModel({.vocabulary = 2, .context = 1, .embedding = 1, .hidden = SIZE_MAX / 4}),
                    SizeError);
}
