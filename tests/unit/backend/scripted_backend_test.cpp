// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/scripted_backend.hpp>

#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <memory>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <support/own_pages.hpp>

namespace pinwarden {

namespace {

using Operation = ScriptedBackend::Operation;

bool done(const UnpinAnswer& answer) { return answer.status == UnpinStatus::done; }

}  // namespace

TEST_CASE("A script records every call in order, with its block", "[backend]") {
    ScriptedBackend backend;
    const testing::OwnPages pages(1);
    const HostBlock first = backend.allocate(100);
    const HostBlock second = backend.register_memory(pages.data() + 8, 16);
    CHECK(done(backend.deallocate(first)));
    CHECK(done(backend.unregister_memory(second)));
    const auto calls = backend.calls();
    REQUIRE(calls.size() == 4);
    CHECK(calls[0].operation == Operation::allocate);
    CHECK(calls[0].block.address == first.address);
    CHECK(calls[0].block.bytes == 100);
    CHECK(calls[1].operation == Operation::register_memory);
    CHECK(calls[1].block.address == pages.data() + 8);
    CHECK(calls[2].operation == Operation::deallocate);
    CHECK(calls[2].block.address == first.address);
    CHECK(calls[2].answer == UnpinStatus::done);
    CHECK(calls[3].operation == Operation::unregister_memory);
    CHECK(calls[3].block.address == pages.data() + 8);
}

TEST_CASE("Blocks are outstanding from acquisition to release", "[backend]") {
    ScriptedBackend backend;
    const HostBlock first = backend.allocate(1);
    const HostBlock second = backend.allocate(2);
    REQUIRE(backend.outstanding().size() == 2);
    CHECK(backend.outstanding()[0].address == first.address);
    CHECK(done(backend.deallocate(first)));
    REQUIRE(backend.outstanding().size() == 1);
    CHECK(backend.outstanding()[0].address == second.address);
    CHECK(done(backend.deallocate(second)));
    CHECK(backend.outstanding().empty());
}

TEST_CASE("The ordered acquisition fails, once, and counts as an acquisition", "[backend]") {
    ScriptedBackend backend;
    const testing::OwnPages pages(1);
    const HostBlock before = backend.allocate(8);
    backend.fail_acquire(2);
    const HostBlock first = backend.allocate(8);
    CHECK_THROWS_AS(backend.register_memory(pages.data(), 5), PinError);
    const HostBlock third = backend.allocate(8);
    CHECK(backend.acquire_count() == 4);
    CHECK(backend.outstanding().size() == 3);
    const auto calls = backend.calls();
    REQUIRE(calls.size() == 4);
    CHECK(calls[2].refused);
    CHECK(calls[2].operation == Operation::register_memory);
    CHECK(calls[2].block.address == pages.data());
    CHECK(calls[2].block.bytes == 5);
    CHECK_FALSE(calls[3].refused);
    for (const HostBlock& block : {before, first, third}) CHECK(done(backend.deallocate(block)));
}

TEST_CASE("An order to fail can be taken back", "[backend]") {
    ScriptedBackend backend;
    backend.fail_acquire(1);
    backend.fail_acquire(0);
    const HostBlock block = backend.allocate(8);
    CHECK(done(backend.deallocate(block)));
}

TEST_CASE("A scripted release is answered as ordered and the memory stays usable", "[backend]") {
    ScriptedBackend backend;
    const HostBlock first = backend.allocate(8);
    const HostBlock second = backend.allocate(8);
    const HostBlock third = backend.allocate(8);
    backend.answer_release(UnpinStatus::failed);
    const UnpinAnswer failed = backend.deallocate(first);
    CHECK(failed.status == UnpinStatus::failed);
    CHECK(failed.code != 0);
    CHECK(std::string(failed.call) == "scripted unpin");
    first.address[7] = std::byte{1};
    backend.answer_release(UnpinStatus::unloading);
    CHECK(backend.deallocate(second).status == UnpinStatus::unloading);
    second.address[7] = std::byte{1};
    backend.answer_release(UnpinStatus::done);
    CHECK(done(backend.deallocate(third)));
    CHECK(backend.outstanding().empty());
    CHECK(backend.calls()[3].answer == UnpinStatus::failed);
    CHECK(backend.calls()[4].answer == UnpinStatus::unloading);
}

TEST_CASE("By default a script only pretends to pin, in whole pages", "[backend]") {
    ScriptedBackend backend;
    const std::size_t before = kernel_locked_bytes();
    CHECK(backend.pins());
    CHECK(backend.name() == "scripted");
    const HostBlock block = backend.allocate(page_bytes() + 1);
    CHECK(block.locked_bytes == 2 * page_bytes());
    const testing::OwnPages pages(2);
    const HostBlock across = backend.register_memory(pages.data() + page_bytes() - 1, 2);
    CHECK(across.locked_bytes == 2 * page_bytes());
    CHECK(kernel_locked_bytes() == before);
    CHECK(done(backend.unregister_memory(across)));
    CHECK(done(backend.deallocate(block)));
}

TEST_CASE("Over another backend a script really pins", "[backend]") {
    const std::size_t before = kernel_locked_bytes();
    {
        ScriptedBackend backend(native_backend());
        const HostBlock block = backend.allocate(1);
        CHECK(block.locked_bytes == page_bytes());
        CHECK(kernel_locked_bytes() == before + page_bytes());
        CHECK(done(backend.deallocate(block)));
        CHECK(kernel_locked_bytes() == before);
    }
}

TEST_CASE("What a script kept by its answers is released with the script", "[backend]") {
    const std::size_t before = kernel_locked_bytes();
    {
        ScriptedBackend backend(native_backend());
        const HostBlock block = backend.allocate(1);
        backend.answer_release(UnpinStatus::failed);
        CHECK(backend.deallocate(block).status == UnpinStatus::failed);
        CHECK(kernel_locked_bytes() == before + page_bytes());
    }
    CHECK(kernel_locked_bytes() == before);
}

TEST_CASE("An acquisition that the backend below refuses is recorded as refused", "[backend]") {
    ScriptedBackend backend(native_backend());
    const testing::OwnPages pages(3);
    pages.punch_hole(1);
    CHECK_THROWS_AS(backend.register_memory(pages.data(), pages.bytes()), PinError);
    REQUIRE(backend.calls().size() == 1);
    CHECK(backend.calls()[0].refused);
    CHECK(backend.outstanding().empty());
}

TEST_CASE("A script keeps count when many threads use it at once", "[backend]") {
    ScriptedBackend backend;
    constexpr std::size_t threads = 8;
    constexpr std::size_t rounds = 200;
    {
        std::vector<std::jthread> workers;
        for (std::size_t t = 0; t < threads; ++t) {
            workers.emplace_back([&backend] {
                for (std::size_t i = 0; i < rounds; ++i) {
                    const HostBlock block = backend.allocate(1 + i);
                    static_cast<void>(backend.deallocate(block));
                }
            });
        }
    }
    CHECK(backend.acquire_count() == threads * rounds);
    CHECK(backend.calls().size() == 2 * threads * rounds);
    CHECK(backend.outstanding().empty());
}

}  // namespace pinwarden
