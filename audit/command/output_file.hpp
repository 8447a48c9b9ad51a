// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Results written whole or not at all: a reader of the file sees the old content or the new, nothing
/// in between.
///
/// ```
/// OutputFile summary("summary.json", "the summary");   // fails now if it cannot be written there
/// // ... hours of work ...
/// summary.commit(text);
/// ```

#include "command/file_descriptor.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace pinwarden::command {

/// A file to be written in one go at the end of a run. Move-only.
///
/// A regular file is written under a temporary name beside its final one, flushed to the disk and renamed.
/// What is something else, a device or a pipe, or the standard output under a name, has no content to protect
/// and is written to directly.
class [[nodiscard]] OutputFile {
public:
    /// Space that is set aside on the disk at once, so that a full one is found out before the work and not
    /// after it.
    static constexpr std::size_t reserved_bytes = 4096;

    /// Opens the file, or the temporary one that becomes it.
    /// @param what names the file's role in messages, `the summary` for example.
    /// @throws ConfigurationError if the path is a directory or empty, or the file cannot be created or
    /// written there.
    OutputFile(const std::filesystem::path& path, std::string what);

    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;

    /// Removes the temporary file, unless commit() has renamed it.
    ~OutputFile();

    /// Makes `content` the file's content.
    /// @throws ConfigurationError if the disk is full or another write error is met; the old content is left
    /// alone.
    void commit(std::string_view content);

private:
    [[noreturn]] void refuse(const char* call, int error) const;
    void open_directly();
    void open_temporary();

    std::filesystem::path path_;
    std::string what_;
    std::filesystem::path temporary_;  ///< empty if the file is written directly
    FileDescriptor descriptor_;
};

/// Writes all of `text` to the standard output.
/// @throws ConfigurationError if that fails, as on a full disk.
void write_to_standard_output(std::string_view text);

}  // namespace pinwarden::command
