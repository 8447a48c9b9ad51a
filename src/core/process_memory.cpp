// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/process_memory.hpp>

#include "core/memory_probe.hpp"

#include <sys/resource.h>

namespace pinwarden {

std::size_t kernel_locked_bytes() noexcept {
    try {
        return detail::locked_bytes_under("");
    } catch (...) {  // out of memory while reading a text file
        return 0;
    }
}

std::size_t lock_limit_bytes() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited_bytes;
    return limit.rlim_cur;
}

std::size_t available_bytes() noexcept {
    try {
        return detail::available_bytes_under("");
    } catch (...) {
        return unlimited_bytes;
    }
}

}  // namespace pinwarden
