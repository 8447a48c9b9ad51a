// SPDX-License-Identifier: Apache-2.0
#include <support/failing_kernel_calls.hpp>

#include <cerrno>
#include <utility>

#include <sys/mman.h>

#include <pinwarden/core/bytes.hpp>

namespace pinwarden::testing {

namespace {

FailingKernelCalls* current = nullptr;

void* map_pages(std::size_t bytes) {
    if (current->refuses("map_pages")) return MAP_FAILED;
    void* const address = detail::kernel_calls().map_pages(bytes);
    if (address != MAP_FAILED) current->note(true, false, address, bytes);
    return address;
}

int unmap_pages(void* address, std::size_t bytes) {
    if (current->refuses("unmap_pages")) return -1;
    const int answer = detail::kernel_calls().unmap_pages(address, bytes);
    if (answer == 0) current->note(false, false, address, bytes);
    return answer;
}

int lock_pages(void* address, std::size_t bytes) {
    if (current->refuses("lock_pages")) return -1;
    const int answer = detail::kernel_calls().lock_pages(address, bytes);
    if (answer == 0) current->note(current->is_mapped(address), true, address, bytes);
    return answer;
}

int unlock_pages(void* address, std::size_t bytes) {
    if (current->refuses("unlock_pages")) return -1;
    const int answer = detail::kernel_calls().unlock_pages(address, bytes);
    if (answer == 0) current->note(current->is_mapped(address), false, address, bytes);
    return answer;
}

int prefer_huge_pages(void* address, std::size_t bytes) {
    if (current->refuses("prefer_huge_pages")) return -1;
    return detail::kernel_calls().prefer_huge_pages(address, bytes);
}

constexpr detail::KernelCalls refusing_calls{map_pages, unmap_pages, lock_pages, unlock_pages,
                                             prefer_huge_pages};

void set(std::set<std::uintptr_t>& pages, std::uintptr_t page, bool member) {
    if (member) {
        pages.insert(page);
    } else {
        pages.erase(page);
    }
}

}  // namespace

FailingKernelCalls::FailingKernelCalls() { current = this; }

FailingKernelCalls::~FailingKernelCalls() {
    // What a failed call made the code under test keep is given back here.
    for (const std::uintptr_t page : mapped_) {
        detail::kernel_calls().unmap_pages(reinterpret_cast<void*>(page), page_bytes());
    }
    current = nullptr;
}

const detail::KernelCalls& FailingKernelCalls::table() const noexcept { return refusing_calls; }

void FailingKernelCalls::fail(std::size_t nth, int code) {
    fail_at_ = nth == 0 ? 0 : calls_.size() + nth;
    code_ = code;
    failed_ = false;
}

void FailingKernelCalls::fail_all(std::string name, int code) {
    failing_name_ = std::move(name);
    failing_name_code_ = code;
}

std::size_t FailingKernelCalls::mapped_bytes() const noexcept { return mapped_.size() * page_bytes(); }

std::size_t FailingKernelCalls::locked_bytes() const noexcept { return locked_.size() * page_bytes(); }

bool FailingKernelCalls::refuses(const char* name) {
    calls_.emplace_back(name);
    if (failing_name_ == name) {
        errno = failing_name_code_;
        return true;
    }
    if (calls_.size() != fail_at_) return false;
    failed_ = true;
    errno = code_;
    return true;
}

void FailingKernelCalls::note(bool mapped, bool locked, const void* address, std::size_t bytes) {
    const std::uintptr_t page = page_bytes();
    const auto begin = reinterpret_cast<std::uintptr_t>(address) & ~(page - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;
    for (std::uintptr_t at = begin; at < end; at += page) {
        set(mapped_, at, mapped);
        set(locked_, at, locked);
    }
}

bool FailingKernelCalls::is_mapped(const void* address) const {
    return mapped_.contains(reinterpret_cast<std::uintptr_t>(address) & ~(page_bytes() - 1));
}

}  // namespace pinwarden::testing
