// SPDX-License-Identifier: Apache-2.0
#include "command/train/text_corpus.hpp"

#include "command/file.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace pinwarden::command {

TextCorpus::TextCorpus(std::string_view bytes, const std::string& origin) : origin_(origin) {
    if (bytes.empty()) {
        throw ConfigurationError(
            fmt::format("The text {} is empty; give one with some characters to learn from.", origin));
    }
    std::array<bool, 256> occurs{};
    for (const char byte : bytes) occurs[static_cast<std::uint8_t>(byte)] = true;
    std::array<std::uint8_t, 256> number_of{};
    for (std::size_t byte = 0; byte < occurs.size(); ++byte) {
        if (!occurs[byte]) continue;
        number_of[byte] = static_cast<std::uint8_t>(bytes_.size());
        bytes_.push_back(static_cast<std::uint8_t>(byte));
    }
    characters_.reserve(bytes.size());
    for (const char byte : bytes) characters_.push_back(number_of[static_cast<std::uint8_t>(byte)]);
}

TextCorpus TextCorpus::read(const std::filesystem::path& file) {
    return {read_file(file, "the text", largest_bytes), file.string()};
}

double TextCorpus::unigram_entropy() const {
    std::vector<std::size_t> occurrences(vocabulary());
    for (const std::uint8_t character : characters_) ++occurrences[character];
    double entropy = 0.0;
    for (const std::size_t count : occurrences) {
        const double frequency = static_cast<double>(count) / static_cast<double>(characters_.size());
        entropy -= frequency * std::log(frequency);
    }
    return entropy;
}

std::size_t TextCorpus::window_count(std::size_t context) const {
    if (characters_.size() <= context) {
        throw ConfigurationError(
            fmt::format("The text {} is too short: it has {} bytes, and predicting one from the {} before it "
                        "takes at least {}; give a longer text or a smaller --context.",
                        origin_, characters_.size(), context, context + 1));
    }
    return characters_.size() - context;
}

Batch TextCorpus::random_batch(std::size_t windows, std::size_t context, RandomEngine& random) const {
    const std::size_t places = window_count(context);
    Batch batch;
    batch.contexts.reserve(windows * context);
    batch.targets.reserve(windows);
    for (std::size_t window = 0; window < windows; ++window) {
        const auto start = characters_.begin() + static_cast<std::ptrdiff_t>(uniform_below(random, places));
        const auto target = start + static_cast<std::ptrdiff_t>(context);
        batch.contexts.insert(batch.contexts.end(), start, target);
        batch.targets.push_back(*target);
    }
    return batch;
}

}  // namespace pinwarden::command
