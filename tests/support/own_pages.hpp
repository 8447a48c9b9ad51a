// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Whole pages that belong to a test alone: memory to register, whose neighbours nobody else uses.

#include <cstddef>

#include <gsl/span>

namespace pinwarden::testing {

/// Owns `count` pages of zeros.
class [[nodiscard]] OwnPages {
public:
    explicit OwnPages(std::size_t count);
    OwnPages(const OwnPages&) = delete;
    OwnPages& operator=(const OwnPages&) = delete;
    ~OwnPages();

    [[nodiscard]] std::byte* data() const noexcept { return first_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    /// `count` bytes from byte `offset`.
    [[nodiscard]] gsl::span<std::byte> bytes_at(std::size_t offset, std::size_t count) const {
        return gsl::span(first_, bytes_).subspan(offset, count);
    }

    /// Unmaps one page, so that a range across it cannot be locked as a whole.
    void punch_hole(std::size_t page) const;

private:
    std::size_t bytes_;
    std::byte* first_;
};

/// Whether the page that holds `address` is mapped at all.
[[nodiscard]] bool is_mapped(const void* address);

}  // namespace pinwarden::testing
