// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A file as training text: its bytes, numbered by the order of their values, whatever they mean.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "command/train/char_model.hpp"
#include "command/train/random.hpp"

namespace pinwarden::command {

/// A text over the vocabulary of the bytes that occur in it. Immutable, hence thread-safe.
class TextCorpus {
public:
    /// `bytes` as a text.
    /// @throws ConfigurationError if there are none; `origin` stands for them in the message.
    TextCorpus(std::string_view bytes, const std::string& origin);

    /// Reads a regular file, a pipe or a device to its end.
    /// @throws ConfigurationError if it is missing, a directory, unreadable, empty, or larger than
    /// `largest_bytes`.
    [[nodiscard]] static TextCorpus read(const std::filesystem::path& file);

    /// What read() accepts at most: the text is held in memory.
    static constexpr std::size_t largest_bytes = std::size_t{1} << 30U;

    /// The text as numbers below vocabulary().
    [[nodiscard]] const std::vector<std::uint8_t>& characters() const noexcept { return characters_; }

    /// How many different bytes the text has, 1 to 256.
    [[nodiscard]] std::size_t vocabulary() const noexcept { return bytes_.size(); }

    /// The byte that a number stands for.
    /// @pre `number < vocabulary()`
    [[nodiscard]] std::uint8_t byte_of(std::uint8_t number) const { return bytes_[number]; }

    /// The entropy in nats per character of the frequencies of single characters: the loss of a model that
    /// knows those and looks at nothing, and therefore what a model that reads its context has to get below.
    [[nodiscard]] double unigram_entropy() const;

    /// Places in the text that have `context` characters before them and one to predict.
    /// @throws ConfigurationError if there is none.
    [[nodiscard]] std::size_t window_count(std::size_t context) const;

    /// `windows` windows at random places, drawn independently.
    /// @throws ConfigurationError if the text is too short for one.
    [[nodiscard]] Batch random_batch(std::size_t windows, std::size_t context, RandomEngine& random) const;

private:
    std::string origin_;
    std::vector<std::uint8_t> characters_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace pinwarden::command
