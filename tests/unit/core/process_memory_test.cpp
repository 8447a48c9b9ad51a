// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/process_memory.hpp>

#include <pinwarden/core/bytes.hpp>

#include <fstream>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <support/child_process.hpp>
#include <support/own_pages.hpp>

namespace pinwarden {

TEST_CASE("Locked bytes rise and fall with what the kernel locks", "[core]") {
    const testing::OwnPages pages(3);
    const std::size_t before = kernel_locked_bytes();
    // By number, because sanitizers replace the C library's function by one that does nothing.
    REQUIRE(::syscall(SYS_mlock, pages.data(), pages.bytes()) == 0);
    CHECK(kernel_locked_bytes() == before + pages.bytes());
    REQUIRE(::syscall(SYS_munlock, pages.data(), pages.bytes()) == 0);
    CHECK(kernel_locked_bytes() == before);
}

TEST_CASE("The lock limit is the soft limit of the process at this moment", "[core]") {
    const auto limit_in_child = [](rlim_t soft) {
        return testing::run_in_child([soft] {
                   rlimit limit{};
                   ::getrlimit(RLIMIT_MEMLOCK, &limit);
                   limit.rlim_cur = soft;
                   if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return std::string("refused");
                   return std::to_string(lock_limit_bytes());
               })
            .answer;
    };
    CHECK(limit_in_child(65536) == "65536");
    CHECK(limit_in_child(0) == "0");
}

TEST_CASE("No lock limit is answered as unlimited", "[core]") {
    const auto child = testing::run_in_child([] {
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        rlimit now{};
        ::getrlimit(RLIMIT_MEMLOCK, &now);
        // Without the right to raise it, the hard limit may forbid this; the answer must then be the soft
        // limit.
        const bool raised = ::setrlimit(RLIMIT_MEMLOCK, &none) == 0;
        return std::string(lock_limit_bytes() == (raised ? unlimited_bytes : now.rlim_cur) ? "yes" : "no");
    });
    CHECK(child.answer == "yes");
}

TEST_CASE("Available memory is more than nothing and less than the machine has", "[core]") {
    std::ifstream meminfo("/proc/meminfo");
    std::string key;
    std::size_t total_kib = 0;
    REQUIRE(meminfo >> key >> total_kib);
    REQUIRE(key == "MemTotal:");
    CHECK(available_bytes() > page_bytes());
    CHECK(available_bytes() < total_kib * 1024);
}

}  // namespace pinwarden
