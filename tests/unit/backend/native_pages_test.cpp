// SPDX-License-Identifier: Apache-2.0
#include <backend/native_pages.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/failing_kernel_calls.hpp>
#include <support/own_pages.hpp>

namespace pinwarden::detail {

namespace {

using Catch::Matchers::ContainsSubstring;
using testing::FailingKernelCalls;
using testing::OwnPages;

constexpr std::size_t mib = std::size_t{1} << 20;

std::string text_of_refusal(auto&& acquire) {
    try {
        acquire();
    } catch (const PinError& error) {
        return error.what();
    }
    return "no error";
}

std::size_t count_of(const FailingKernelCalls& kernel, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::count(kernel.calls(), name));
}

}  // namespace

TEST_CASE("Whichever call of an allocation fails, nothing stays locked", "[backend]") {
    const std::size_t bytes = GENERATE(std::size_t{100}, std::size_t{20000}, 3 * mib);
    const std::size_t before = kernel_locked_bytes();
    std::size_t refused = 0;
    for (std::size_t nth = 1;; ++nth) {
        FailingKernelCalls kernel;
        NativePages backend(kernel.table());
        kernel.fail(nth, ENOMEM);
        std::optional<HostBlock> block;
        try {
            block = backend.allocate(bytes);
        } catch (const PinError& error) {
            ++refused;
            CHECK(error.refusal().code == ENOMEM);
            CHECK(kernel.mapped_bytes() == 0);
        }
        const bool failed = kernel.failed();
        kernel.fail(0, 0);
        if (block) {
            CHECK(block->bytes == bytes);
            CHECK(kernel.locked_bytes() == block->locked_bytes);
            CHECK(backend.deallocate(*block).status == UnpinStatus::done);
        }
        CHECK(kernel.locked_bytes() == 0);
        CHECK(kernel_locked_bytes() == before);
        if (!failed) {
            CHECK(kernel.mapped_bytes() == 0);
            break;
        }
    }
    CHECK(refused == 2);  // mapping and locking; all else is allowed to fail
}

TEST_CASE("Whichever call of a registration fails, nothing stays locked", "[backend]") {
    const std::size_t before = kernel_locked_bytes();
    const OwnPages pages(4);
    for (std::size_t nth = 1;; ++nth) {
        FailingKernelCalls kernel;
        NativePages backend(kernel.table());
        kernel.fail(nth, EAGAIN);
        try {
            const HostBlock block = backend.register_memory(pages.data() + 10, 3 * page_bytes());
            CHECK_FALSE(kernel.failed());
            CHECK(kernel.locked_bytes() == 4 * page_bytes());
            kernel.fail(0, 0);
            CHECK(backend.unregister_memory(block).status == UnpinStatus::done);
        } catch (const PinError& error) {
            CHECK(error.refusal().code == EAGAIN);
            CHECK(kernel.failed());
        }
        CHECK(kernel.locked_bytes() == 0);
        CHECK(kernel_locked_bytes() == before);
        if (!kernel.failed()) break;
    }
}

TEST_CASE("Pages that were locked before a registration failed half-way are unlocked", "[backend]") {
    const std::size_t before = kernel_locked_bytes();
    const OwnPages pages(4);
    pages.punch_hole(2);
    FailingKernelCalls kernel;
    NativePages backend(kernel.table());
    const std::string text =
        text_of_refusal([&] { static_cast<void>(backend.register_memory(pages.data(), pages.bytes())); });
    CHECK_THAT(text, ContainsSubstring("mlock") && ContainsSubstring("ENOMEM") &&
                         ContainsSubstring("must be mapped as a whole"));
    CHECK(kernel_locked_bytes() == before);
}

TEST_CASE("Trap 23: huge pages that the kernel refuses are replaced by ordinary ones", "[backend]") {
    FailingKernelCalls kernel;
    kernel.fail_all("prefer_huge_pages", EINVAL);
    NativePages backend(kernel.table());
    const HostBlock block = backend.allocate(2 * mib);
    CHECK(count_of(kernel, "prefer_huge_pages") == 1);
    CHECK(kernel.locked_bytes() == 2 * mib);
    CHECK(backend.deallocate(block).status == UnpinStatus::done);
}

TEST_CASE("Trap 23: huge pages are asked for before the pages are first touched, and only for large blocks",
          "[backend]") {
    FailingKernelCalls kernel;
    NativePages backend(kernel.table());
    const HostBlock small = backend.allocate(2 * mib - page_bytes());
    CHECK(count_of(kernel, "prefer_huge_pages") == 0);
    const HostBlock large = backend.allocate(2 * mib - page_bytes() + 1);
    CHECK(count_of(kernel, "prefer_huge_pages") == 1);
    const auto& calls = kernel.calls();
    const auto huge = std::ranges::find(calls, "prefer_huge_pages");
    CHECK(std::find(huge, calls.end(), "lock_pages") != calls.end());
    CHECK(backend.deallocate(small).status == UnpinStatus::done);
    CHECK(backend.deallocate(large).status == UnpinStatus::done);
    CHECK(kernel.mapped_bytes() == 0);
}

TEST_CASE("A refused mapping is reported with its size and the kernel's answer", "[backend]") {
    FailingKernelCalls kernel;
    NativePages backend(kernel.table());
    kernel.fail_all("map_pages", ENOMEM);
    const std::string text = text_of_refusal([&] { static_cast<void>(backend.allocate(5000)); });
    CHECK_THAT(text, ContainsSubstring("native backend could not pin 5000 bytes"));
    CHECK_THAT(text, ContainsSubstring("mmap(8192 bytes) answered ENOMEM (Cannot allocate memory)"));
}

TEST_CASE("A refused lock is reported with its arguments and the kernel's answer", "[backend]") {
    FailingKernelCalls kernel;
    NativePages backend(kernel.table());
    kernel.fail_all("lock_pages", EPERM);
    const std::string text = text_of_refusal([&] { static_cast<void>(backend.allocate(5000)); });
    CHECK_THAT(text, ContainsSubstring("mlock(0x") && ContainsSubstring(", 8192) answered EPERM"));
    CHECK_THAT(text, ContainsSubstring("this process has locked") && ContainsSubstring("RLIMIT_MEMLOCK is"));
}

TEST_CASE("A release that the kernel refuses is answered as failed, and the memory stays", "[backend]") {
    const OwnPages pages(1);
    FailingKernelCalls kernel;
    NativePages backend(kernel.table());
    const HostBlock block = backend.allocate(100);
    const HostBlock registered = backend.register_memory(pages.data(), pages.bytes());
    block.address[99] = std::byte{42};

    kernel.fail_all("unmap_pages", ENOMEM);
    const UnpinAnswer unmapped = backend.deallocate(block);
    CHECK(unmapped.status == UnpinStatus::failed);
    CHECK(std::string(unmapped.call) == "munmap");
    CHECK(unmapped.code == ENOMEM);
    CHECK(block.address[99] == std::byte{42});

    kernel.fail_all("unlock_pages", EINVAL);
    const UnpinAnswer unlocked = backend.unregister_memory(registered);
    CHECK(unlocked.status == UnpinStatus::failed);
    CHECK(std::string(unlocked.call) == "munlock");
    CHECK(unlocked.code == EINVAL);
    CHECK(kernel.locked_bytes() == 2 * page_bytes());

    kernel.fail_all("", 0);
    CHECK(backend.deallocate(block).status == UnpinStatus::done);
    CHECK(backend.unregister_memory(registered).status == UnpinStatus::done);
    CHECK(kernel.locked_bytes() == 0);
}

TEST_CASE("Trap 24: more than the machine can give is refused before anything is mapped", "[backend]") {
    // Under a memory control group the kernel would not refuse such a pin, but kill.
    FailingKernelCalls kernel;
    kernel.fail_all("map_pages", ENOMEM);  // a failing look must not harm the machine that tests it
    NativePages backend(kernel.table());
    const std::size_t bytes = available_bytes() + 512 * mib;
    const std::string text = text_of_refusal([&] { static_cast<void>(backend.allocate(bytes)); });
    CHECK_THAT(text, ContainsSubstring("could not pin " + std::to_string(bytes) + " bytes"));
    CHECK_THAT(text, ContainsSubstring("too little") && ContainsSubstring("memory limit of the cgroup"));
    CHECK(kernel.calls().empty());
}

TEST_CASE("A size that no machine has is refused without arithmetic going wrong", "[backend]") {
    const std::size_t largest = std::numeric_limits<std::size_t>::max();
    FailingKernelCalls kernel;
    NativePages backend(kernel.table());
    CHECK_THROWS_AS(backend.allocate(largest), SizeError);
    CHECK_THROWS_AS(backend.allocate(largest - page_bytes()), PinError);
    CHECK_THROWS_AS(backend.allocate(largest / 2), PinError);
    CHECK(kernel.mapped_bytes() == 0);
}

TEST_CASE("A range of the address space that cannot be locked is refused, and nothing stays locked",
          "[backend]") {
    const OwnPages pages(1);
    const std::size_t before = kernel_locked_bytes();
    NativePages backend(kernel_calls());  // a book of its pages would be too long
    CHECK_THROWS_AS(backend.register_memory(pages.data(), std::size_t{1} << 46), PinError);
    CHECK(kernel_locked_bytes() == before);
}

}  // namespace pinwarden::detail
