// SPDX-License-Identifier: Apache-2.0
#include <support/own_pages.hpp>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <sys/mman.h>

#include <pinwarden/core/bytes.hpp>

namespace pinwarden::testing {

namespace {

std::byte* map(std::size_t bytes) {
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return static_cast<std::byte*>(memory);
}

}  // namespace

OwnPages::OwnPages(std::size_t count) : bytes_(count * page_bytes()), first_(map(bytes_)) {}

OwnPages::~OwnPages() { ::munmap(first_, bytes_); }

void OwnPages::punch_hole(std::size_t page) const {
    if (::munmap(first_ + page * page_bytes(), page_bytes()) != 0) {
        throw std::system_error(errno, std::generic_category(), "munmap");
    }
}

bool is_mapped(const void* address) {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) & ~(page_bytes() - 1);
    unsigned char resident = 0;
    return ::mincore(reinterpret_cast<void*>(page), page_bytes(), &resident) == 0;
}

}  // namespace pinwarden::testing
