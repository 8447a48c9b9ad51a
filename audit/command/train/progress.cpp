// SPDX-License-Identifier: Apache-2.0
#include "command/train/progress.hpp"

#include <pinwarden/core/bytes.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace pinwarden::command {

std::string to_text(const Progress& progress) {
    return fmt::format("step {}/{}  loss {:.3f}  {:.0f} tokens/s  pinned {}", progress.step, progress.steps,
                       progress.loss, progress.tokens_per_second, format_bytes(progress.pinned_bytes));
}

ProgressLine::Style ProgressLine::style_for(std::FILE* stream) noexcept {
    return ::isatty(::fileno(stream)) == 1 ? Style::renewing : Style::plain;
}

ProgressLine::ProgressLine(std::FILE* stream, Style style, std::uint64_t every) noexcept
    : stream_(stream), style_(style), every_(std::max<std::uint64_t>(every, 1)) {}

ProgressLine::~ProgressLine() {
    finish();
}

bool ProgressLine::is_due(const Progress& progress) const {
    if (style_ == Style::silent) return false;
    if (progress.step == 1 || progress.step == progress.steps) return true;
    if (style_ == Style::plain) return progress.step % every_ == 0;
    return std::chrono::steady_clock::now() - last_ >= std::chrono::milliseconds(100);
}

void ProgressLine::show(const Progress& progress) {
    if (!is_due(progress)) return;
    last_ = std::chrono::steady_clock::now();
    const std::string line = to_text(progress);
    if (style_ == Style::plain) {
        write(line, "\n");
    } else {
        write(line, "");
        shown_width_ = line.size();
    }
}

void ProgressLine::note(std::string_view event) {
    if (style_ == Style::silent) return;
    write(event, "\n");
    shown_width_ = 0;
}

void ProgressLine::finish() {
    if (shown_width_ == 0) return;
    std::fputs("\n", stream_);
    std::fflush(stream_);
    shown_width_ = 0;
}

void ProgressLine::write(std::string_view line, const char* end) {
    // Blanks cover what is left of a longer line; terminals that know no control sequences understand that
    // too.
    const char* const start = style_ == Style::renewing ? "\r" : "";
    const std::string text = fmt::format("{}{:<{}}{}", start, line, shown_width_, end);
    std::fputs(text.c_str(), stream_);
    std::fflush(stream_);
}

}  // namespace pinwarden::command
