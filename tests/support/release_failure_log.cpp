// SPDX-License-Identifier: Apache-2.0
#include <support/release_failure_log.hpp>

#include <array>
#include <mutex>
#include <span>

namespace pinwarden::testing {

namespace {

// Without any allocation, so that a test may let every allocation fail while it collects.
struct Note {
    std::array<char, 4096> text;
    std::size_t length;
    const void* address;
    std::size_t bytes;
    int code;
    std::uint_least32_t line;
};

std::mutex mutex;
std::array<Note, 64> notes;
std::size_t noted = 0;

void collect(const ReleaseFailure& failure) noexcept {
    const std::scoped_lock lock(mutex);
    if (noted == notes.size()) return;
    Note& note = notes[noted++];
    note.length = failure.text.copy(note.text.data(), note.text.size());
    note.address = failure.address;
    note.bytes = failure.bytes;
    note.code = failure.code;
    note.line = failure.site.line();
}

}  // namespace

ReleaseFailureLog::ReleaseFailureLog() : previous_(set_release_failure_handler(&collect)) {
    static_cast<void>(take());
}

ReleaseFailureLog::~ReleaseFailureLog() { set_release_failure_handler(previous_); }

std::vector<ReleaseFailureLog::Failure> ReleaseFailureLog::take() {
    const std::scoped_lock lock(mutex);
    std::vector<Failure> failures;
    for (const Note& note : std::span(notes).first(noted)) {
        failures.push_back(
            {std::string(note.text.data(), note.length), note.address, note.bytes, note.code, note.line});
    }
    noted = 0;
    return failures;
}

std::vector<std::string> ReleaseFailureLog::texts() const {
    const std::scoped_lock lock(mutex);
    std::vector<std::string> texts;
    for (const Note& note : std::span(notes).first(noted)) texts.emplace_back(note.text.data(), note.length);
    return texts;
}

}  // namespace pinwarden::testing
