// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What came out of a scan: findings, and what became of every file.

#include "scan/finding.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pinwarden::scan {

enum class FileState { scanned, skipped, crashed, timed_out, out_of_memory };

/// The word used in reports.
[[nodiscard]] constexpr std::string_view state_word(FileState state) noexcept {
    switch (state) {
        case FileState::scanned: return "scanned";
        case FileState::skipped: return "skipped";
        case FileState::crashed: return "crashed";
        case FileState::timed_out: return "timed out";
        case FileState::out_of_memory: return "out of memory";
    }
    return "unknown";
}

/// True for a file whose analysis did not end.
[[nodiscard]] constexpr bool is_failure(FileState state) noexcept {
    return state != FileState::scanned && state != FileState::skipped;
}

struct FileOutcome {
    std::string file;
    FileState state = FileState::skipped;
    std::string detail;  ///< why it failed
    unsigned errors = 0;
    std::vector<std::string> missing_headers;
};

/// A finding under a name that stays while the code around it changes (see fingerprint.hpp).
struct ReportedFinding : Finding {
    std::string fingerprint;
};

struct ScanReport {
    std::vector<ReportedFinding> findings;
    std::vector<FileOutcome> files;
    std::size_t suppressed = 0;   ///< findings that a comment in the source allows
    std::size_t known = 0;        ///< findings that the baseline has already
    std::size_t not_changed = 0;  ///< findings in code that did not change since the revision asked about

    /// How many files are in `state`.
    [[nodiscard]] std::size_t count(FileState state) const {
        return static_cast<std::size_t>(std::count_if(
            files.begin(), files.end(), [&](const FileOutcome& file) { return file.state == state; }));
    }
    /// How many files could not be analysed to the end.
    [[nodiscard]] std::size_t failures() const {
        return static_cast<std::size_t>(std::count_if(
            files.begin(), files.end(), [](const FileOutcome& file) { return is_failure(file.state); }));
    }
};

}  // namespace pinwarden::scan
