// SPDX-License-Identifier: Apache-2.0
#include "backend/kernel_calls.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pinwarden::detail {
namespace {

void* map_pages(std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int unmap_pages(void* address, std::size_t bytes) { return ::munmap(address, bytes); }

// By number: the sanitizers replace the C library's functions by ones that do nothing and answer 0.
int lock_pages(void* address, std::size_t bytes) { return static_cast<int>(::syscall(SYS_mlock, address, bytes)); }

int unlock_pages(void* address, std::size_t bytes) {
    return static_cast<int>(::syscall(SYS_munlock, address, bytes));
}

int prefer_huge_pages(void* address, std::size_t bytes) { return ::madvise(address, bytes, MADV_HUGEPAGE); }

}  // namespace

const KernelCalls& kernel_calls() noexcept {
    static constexpr KernelCalls calls{map_pages, unmap_pages, lock_pages, unlock_pages, prefer_huge_pages};
    return calls;
}

}  // namespace pinwarden::detail
