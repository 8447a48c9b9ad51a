// SPDX-License-Identifier: Apache-2.0
#include "command/file.hpp"

#include "command/file_descriptor.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace pinwarden::command {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what, const char* call,
                         int error) {
    throw ConfigurationError(
        fmt::format("Cannot read {} '{}': {}: {}; give a file that exists and can be read.", what,
                    file.string(), call, std::generic_category().message(error)));
}

[[noreturn]] void refuse_size(const std::filesystem::path& file, const std::string& what,
                              std::size_t largest) {
    throw ConfigurationError(fmt::format("Cannot read {} '{}': it is larger than {}; give a part of it.", what,
                                         file.string(), format_bytes(largest)));
}

}  // namespace

std::string read_file(const std::filesystem::path& file, const std::string& what, std::size_t largest_bytes) {
    FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.is_open()) refuse(file, what, "open", errno);
    struct stat status {};
    if (::fstat(descriptor.get(), &status) != 0) refuse(file, what, "fstat", errno);
    if (S_ISDIR(status.st_mode)) refuse(file, what, "open", EISDIR);

    std::string bytes;
    if (S_ISREG(status.st_mode)) {
        const auto size = static_cast<std::size_t>(status.st_size);
        if (size > largest_bytes) refuse_size(file, what, largest_bytes);
        bytes.reserve(size);
    }
    constexpr std::size_t chunk = std::size_t{64} * 1024;
    while (true) {
        const std::size_t old_size = bytes.size();
        bytes.resize(old_size + chunk);
        const ::ssize_t count = ::read(descriptor.get(), bytes.data() + old_size, chunk);
        if (count < 0 && errno != EINTR) refuse(file, what, "read", errno);
        bytes.resize(old_size + static_cast<std::size_t>(std::max<::ssize_t>(count, 0)));
        if (count == 0) return bytes;
        if (bytes.size() > largest_bytes) refuse_size(file, what, largest_bytes);
    }
}

}  // namespace pinwarden::command
