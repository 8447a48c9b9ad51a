// SPDX-License-Identifier: Apache-2.0
#include "old_way_engine.hpp"

#include <cerrno>
#include <system_error>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pinwarden::audit_cases {
namespace {

// Not the C library's functions: sanitizers replace those by ones that lock nothing.
void lock_page(void* page) {
    if (::syscall(SYS_mlock, page, buffer_bytes()) != 0) {
        throw std::system_error(errno, std::generic_category(), "mlock of one page");
    }
}

void release_pages(std::vector<void*>& pages) {
    for (void* page : pages) {
        ::syscall(SYS_munlock, page, buffer_bytes());
        ::munmap(page, buffer_bytes());
    }
    pages.clear();
}

}  // namespace

std::array<unsigned, 4> OldWayEngine::offload_states() {
    constexpr unsigned line = __LINE__ + 1;
    offloaded_.push_back(Buffer(buffer_bytes(), {.scope = scope_, .label = "hp_params"}));
    offloaded_.push_back(Buffer(buffer_bytes(), {.scope = scope_, .label = "exp_avg"}));
    offloaded_.push_back(Buffer(buffer_bytes(), {.scope = scope_, .label = "exp_avg_sq"}));
    offloaded_.push_back(Buffer(buffer_bytes(), {.scope = scope_, .label = "lp_params"}));
    return {line, line + 1, line + 2, line + 3};
}

void OldWayEngine::destroy() {
    if (flags_.cpu_offload && flags_.cpu_offload_pin_memory) offloaded_.clear();
}

void NewWayEngine::offload_states() {
    for (const auto* label : {"hp_params", "exp_avg", "exp_avg_sq", "lp_params"}) {
        offloaded_.push_back(Buffer(buffer_bytes(), {.scope = scope_, .label = label}));
    }
}

void NewWayEngine::destroy() { offloaded_.clear(); }

void RawCallEngine::offload_states() {
    for (int i = 0; i < 4; ++i) {
        void* page =
            ::mmap(nullptr, buffer_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of one page");
        offloaded_.push_back(page);
        lock_page(page);
    }
}

void RawCallEngine::destroy() {
    if (flags_.cpu_offload && flags_.cpu_offload_pin_memory) release_pages(offloaded_);
}

void RawCallEngine::release_what_destroy_forgot() { release_pages(offloaded_); }

}  // namespace pinwarden::audit_cases
