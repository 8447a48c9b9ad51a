// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The owner of an open file.

#include <unistd.h>

#include <utility>

namespace pinwarden::command {

/// A move-only owner of a file descriptor. Moved-from equals empty.
class [[nodiscard]] FileDescriptor {
public:
    FileDescriptor() noexcept = default;

    /// Takes over what `open` returned; a negative number makes an empty one.
    explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}

    FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        FileDescriptor taken(std::move(other));
        std::swap(descriptor_, taken.descriptor_);
        return *this;
    }
    ~FileDescriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    [[nodiscard]] int get() const noexcept { return descriptor_; }
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// Closes the file and returns what `close` answered: on some file systems a failed write shows here.
    [[nodiscard]] int close() noexcept { return ::close(std::exchange(descriptor_, -1)); }

private:
    int descriptor_ = -1;
};

}  // namespace pinwarden::command
