// SPDX-License-Identifier: Apache-2.0
#include "command/output_file.hpp"

#include <pinwarden/core/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace pinwarden::command {

namespace {

/// Writes all of `text`; 0, or the `errno` of the write that failed.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ::ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return 0;
}

bool same_file(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether `status` is the file that the standard output goes to: replacing it would take away what is
/// printed there.
bool is_standard_output(const struct stat& status) {
    struct stat output {};
    return ::fstat(STDOUT_FILENO, &output) == 0 && same_file(status, output);
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, std::string what)
    : path_(path), what_(std::move(what)) {
    struct stat status {};
    const bool exists = ::stat(path_.c_str(), &status) == 0;
    if (!exists && errno != ENOENT) refuse("stat", errno);
    if (exists && S_ISDIR(status.st_mode)) refuse("open", EISDIR);
    if (exists && (!S_ISREG(status.st_mode) || is_standard_output(status))) {
        open_directly();
        return;
    }
    if (exists) {
        // Renaming asks for the directory's permission only; a file that is protected from writing stays so.
        if (::access(path_.c_str(), W_OK) != 0) refuse("access", errno);
        std::error_code error;
        path_ = std::filesystem::canonical(path_, error);  // a symbolic link is followed, not replaced
        if (error) refuse("realpath", error.value());
    }
    open_temporary();
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      what_(std::move(other.what_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::move(other.descriptor_)) {}

OutputFile::~OutputFile() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::refuse(const char* call, int error) const {
    throw ConfigurationError(
        fmt::format("Cannot write {} to '{}': {}: {}; give a file in a directory that exists, can "
                    "be written and has space.",
                    what_, path_.string(), call, std::generic_category().message(error)));
}

void OutputFile::open_directly() {
    descriptor_ = FileDescriptor(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!descriptor_.is_open()) refuse("open", errno);
}

void OutputFile::open_temporary() {
    // "name" and "name/" are different wishes; the latter can only be a directory's.
    if (!path_.has_filename()) refuse("open", path_.empty() ? ENOENT : EISDIR);
    constexpr ::mode_t as_the_umask_says = 0666;
    constexpr int most_attempts = 100;
    int error = EEXIST;
    for (int attempt = 0; attempt < most_attempts && error == EEXIST; ++attempt) {
        auto candidate = path_;
        candidate.replace_filename(fmt::format(".pinwarden.{}.{}.tmp", ::getpid(), attempt));
        descriptor_ = FileDescriptor(
            ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, as_the_umask_says));
        error = descriptor_.is_open() ? 0 : errno;
        if (error == 0) temporary_ = std::move(candidate);
    }
    if (error != 0) refuse("open", error);
    // File systems that cannot set space aside say so, and are found out at the end.
    error = ::posix_fallocate(descriptor_.get(), 0, static_cast<::off_t>(reserved_bytes));
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL && error != ENODEV) {
        ::unlink(std::exchange(temporary_, {}).c_str());
        refuse("posix_fallocate", error);
    }
}

void OutputFile::commit(std::string_view content) {
    if (const int error = write_all(descriptor_.get(), content); error != 0) refuse("write", error);
    if (temporary_.empty()) {
        if (descriptor_.close() != 0) refuse("close", errno);
        return;
    }
    if (::ftruncate(descriptor_.get(), static_cast<::off_t>(content.size())) != 0) refuse("ftruncate", errno);
    if (::fsync(descriptor_.get()) != 0) refuse("fsync", errno);
    if (descriptor_.close() != 0) refuse("close", errno);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse("rename", errno);
    temporary_.clear();
}

void write_to_standard_output(std::string_view text) {
    if (const int error = write_all(STDOUT_FILENO, text); error != 0) {
        throw ConfigurationError(
            fmt::format("Cannot write to the standard output: write: {}; send it to a place that "
                        "takes it.",
                        std::generic_category().message(error)));
    }
}

}  // namespace pinwarden::command
