// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/pageable_backend.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <cstring>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/own_pages.hpp>

namespace pinwarden {

TEST_CASE("Pageable memory is never locked", "[backend]") {
    const auto backend = pageable_backend();
    CHECK_FALSE(backend->pins());
    const std::size_t before = kernel_locked_bytes();
    const HostBlock block = backend->allocate(10000);
    CHECK(block.locked_bytes == 0);
    CHECK(kernel_locked_bytes() == before);
    std::memset(block.address, 1, 10000);
    CHECK_FALSE(backend->is_device_pinned(block));
    CHECK(backend->deallocate(block).status == UnpinStatus::done);
}

TEST_CASE("Registering memory as pageable locks nothing", "[backend]") {
    const auto backend = pageable_backend();
    const testing::OwnPages pages(1);
    const std::size_t before = kernel_locked_bytes();
    const HostBlock block = backend->register_memory(pages.data(), pages.bytes());
    CHECK(block.address == pages.data());
    CHECK(block.locked_bytes == 0);
    CHECK(kernel_locked_bytes() == before);
    CHECK(backend->unregister_memory(block).status == UnpinStatus::done);
}

TEST_CASE("More pageable memory than there is, is an error with the size", "[backend]") {
    // Far beyond any address space, yet a size that the allocator may be asked for.
    const std::size_t bytes = std::numeric_limits<std::size_t>::max() / 4;
    CHECK_THROWS_MATCHES(
        pageable_backend()->allocate(bytes), PinError,
        Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("pageable") &&
                                        Catch::Matchers::ContainsSubstring(std::to_string(bytes))));
}

}  // namespace pinwarden
