// SPDX-License-Identifier: Apache-2.0
#include <support/failing_new.hpp>

#include <algorithm>
#include <cstdlib>

namespace pinwarden::testing {

namespace {

// Plain numbers: a thread-local that needs a constructor might allocate.
thread_local std::size_t made = 0;
thread_local std::size_t fail_at = 0;  // value of `made` at which to fail; 0 for never
thread_local bool has_failed = false;

bool refuses() noexcept {
    ++made;
    if (made != fail_at) return false;
    has_failed = true;
    return true;
}

void* allocate(std::size_t bytes) noexcept {
    return refuses() ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
}

void* allocate_aligned(std::size_t bytes, std::align_val_t alignment) noexcept {
    if (refuses()) return nullptr;
    const auto granule = static_cast<std::size_t>(alignment);
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + granule - 1) & ~(granule - 1);
    return whole < bytes ? nullptr : std::aligned_alloc(granule, whole);
}

void* or_throw(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

FailingNew::FailingNew(std::size_t nth) noexcept {
    has_failed = false;
    fail_at = made + nth;
}

FailingNew::~FailingNew() { fail_at = 0; }

bool FailingNew::failed() const noexcept { return has_failed; }

std::size_t allocations_of_this_thread() noexcept { return made; }

}  // namespace pinwarden::testing

void* operator new(std::size_t bytes) {
    return pinwarden::testing::or_throw(pinwarden::testing::allocate(bytes));
}
void* operator new[](std::size_t bytes) {
    return pinwarden::testing::or_throw(pinwarden::testing::allocate(bytes));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return pinwarden::testing::allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return pinwarden::testing::allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return pinwarden::testing::or_throw(pinwarden::testing::allocate_aligned(bytes, alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return pinwarden::testing::or_throw(pinwarden::testing::allocate_aligned(bytes, alignment));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return pinwarden::testing::allocate_aligned(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return pinwarden::testing::allocate_aligned(bytes, alignment);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
