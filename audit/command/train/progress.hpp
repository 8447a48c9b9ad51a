// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Telling the user how far a run is: one line that renews itself on a terminal, a plain line now and then
/// elsewhere.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace pinwarden::command {

/// What a progress line shows.
struct Progress {
    std::uint64_t step = 0;
    std::uint64_t steps = 0;
    double loss = 0.0;
    double tokens_per_second = 0.0;
    std::size_t pinned_bytes = 0;
};

/// `step 120/300  loss 2.431  18240 tokens/s  pinned 0 bytes (0 B)`.
[[nodiscard]] std::string to_text(const Progress& progress);

/// Writes progress to a stream. Trouble with the stream is no reason to stop a run, and is ignored.
class ProgressLine {
public:
    enum class Style {
        silent,    ///< nothing at all
        plain,     ///< whole lines, every `every` steps and at both ends
        renewing,  ///< one line that is written over, at most ten times a second
    };

    /// Renewing on a terminal, plain elsewhere.
    [[nodiscard]] static Style style_for(std::FILE* stream) noexcept;

    ProgressLine(std::FILE* stream, Style style, std::uint64_t every) noexcept;
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Does what finish() does.
    ~ProgressLine();

    /// Shows `progress`, if it is time to.
    void show(const Progress& progress);

    /// Shows an event on a line of its own.
    void note(std::string_view event);

    /// Ends a renewed line, so that what is printed next starts on its own.
    void finish();

private:
    [[nodiscard]] bool is_due(const Progress& progress) const;
    void write(std::string_view line, const char* end);

    std::FILE* stream_;
    Style style_;
    std::uint64_t every_;
    std::size_t shown_width_ = 0;  ///< of the renewed line on the screen
    std::chrono::steady_clock::time_point last_{};
};

}  // namespace pinwarden::command
