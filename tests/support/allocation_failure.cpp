// SPDX-License-Identifier: Apache-2.0
#include <support/allocation_failure.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

thread_local std::size_t allocations_until_failure = 0;  // 0: none fails
thread_local bool allocation_has_failed = false;

bool is_to_fail() noexcept {
    if (allocations_until_failure == 0 || --allocations_until_failure > 0) return false;
    allocation_has_failed = true;
    return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (is_to_fail()) return nullptr;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(std::max<std::size_t>(bytes, 1));
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    return whole < bytes ? nullptr : std::aligned_alloc(alignment, whole);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
    void* const memory = allocate(bytes, alignment);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

// All forms, since a sanitizer's runtime has its own of those left out, and compares who allocated with who
// frees.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 0); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 0); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace pinwarden::testing {

AllocationFailure::AllocationFailure(std::size_t nth) noexcept {
    allocations_until_failure = nth;
    allocation_has_failed = false;
}

AllocationFailure::~AllocationFailure() { allocations_until_failure = 0; }

bool AllocationFailure::has_failed() const noexcept { return allocation_has_failed; }

}  // namespace pinwarden::testing
