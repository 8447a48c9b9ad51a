// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/offloadable_state.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>

#include <support/engine_states.hpp>
#include <support/faulty_accelerator.hpp>

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::OffloadableState;
using zero::StateLocation;

namespace {

constexpr std::size_t bytes = 10'000;

std::vector<std::byte> pattern(std::size_t count = bytes) {
    std::vector<std::byte> content(count);
    for (std::size_t i = 0; i < count; ++i) content[i] = static_cast<std::byte>(i * 7 + i / 256);
    return content;
}

std::vector<std::byte> content_of(const OffloadableState& block) {
    std::vector<std::byte> content(block.size_bytes());
    block.read(content);
    return content;
}

struct World {
    std::shared_ptr<FaultyAccelerator> accelerator = std::make_shared<FaultyAccelerator>();
    StreamPtr stream = accelerator->create_stream("world");
    std::shared_ptr<ScriptedBackend> backend = std::make_shared<ScriptedBackend>();
    audit::Scope scope{"world"};

    [[nodiscard]] PinOptions options(std::string_view label = "") const {
        return {.pinning = Pinning::pinned, .backend = backend, .scope = scope, .label = label};
    }
    [[nodiscard]] OffloadableState on_device(std::size_t count = bytes) const {
        auto block = OffloadableState::on_device(count, stream, "block");
        block.write(pattern(count));
        return block;
    }
};

}  // namespace

TEST_CASE("A default or moved-from block is empty and on the device") {
    World world;
    auto block = world.on_device();
    OffloadableState other = std::move(block);
    const OffloadableState fresh;
    for (const OffloadableState* empty : {&std::as_const(block), &fresh}) {
        REQUIRE(empty->size_bytes() == 0);
        REQUIRE(empty->location() == StateLocation::device);
        REQUIRE(empty->home() == StateLocation::device);
        REQUIRE_FALSE(empty->is_pinned());
        REQUIRE(empty->label().empty());
    }
    REQUIRE(content_of(other) == pattern());
}

TEST_CASE("Assigning to a block releases what it held, once") {
    World world;
    auto block = OffloadableState::on_host(bytes, world.stream, world.options("first"), Site::current());
    block = OffloadableState::on_host(bytes, world.stream, world.options("second"), Site::current());
    REQUIRE(world.backend->outstanding().size() == 1);
    REQUIRE(block.label() == "second");
    auto& same = block;
    block = std::move(same);
    REQUIRE(world.backend->outstanding().size() == 1);
    block = OffloadableState();
    REQUIRE(world.backend->outstanding().empty());
}

TEST_CASE("An offload moves the content to pinned memory and gives the device memory back") {
    World world;
    auto block = world.on_device();
    block.commit(block.prepare_offload(world.options("ignored"), Site::current()));
    REQUIRE(block.location() == StateLocation::host);
    REQUIRE(block.home() == StateLocation::device);
    REQUIRE(block.is_pinned());
    const auto records = world.scope.report().records;
    REQUIRE(records.size() == 1);
    REQUIRE(records.front().label == "block");
    REQUIRE(content_of(block) == pattern());
    world.stream->synchronize();
    REQUIRE(world.accelerator->memory().in_use == 0);

    block.commit(block.prepare_reload());
    REQUIRE(block.location() == StateLocation::device);
    REQUIRE_FALSE(block.is_pinned());
    REQUIRE(content_of(block) == pattern());
    REQUIRE(world.accelerator->memory().in_use == bytes);
    REQUIRE(eventually([] { return registry_locked_bytes() == 0; }));
}

TEST_CASE("A move that is dropped changes nothing and gives its memory back") {
    World world;
    auto block = world.on_device();
    { const auto dropped = block.prepare_offload(world.options(), Site::current()); }
    REQUIRE(block.location() == StateLocation::device);
    REQUIRE(content_of(block) == pattern());
    REQUIRE(eventually([] { return registry_locked_bytes() == 0; }));
    REQUIRE(world.backend->outstanding().empty());

    block.commit(block.prepare_offload(world.options(), Site::current()));
    { const auto dropped = block.prepare_reload(); }
    REQUIRE(block.location() == StateLocation::host);
    REQUIRE(content_of(block) == pattern());
    world.stream->synchronize();
    REQUIRE(world.accelerator->memory().in_use == 0);
}

TEST_CASE("Moves from and to where a block is already move nothing") {
    World world;
    auto block = world.on_device();
    block.commit(block.prepare_reload());
    block.commit(OffloadableState::Move());
    REQUIRE(block.location() == StateLocation::device);
    block.commit(block.prepare_offload(world.options(), Site::current()));
    const std::size_t acquired = world.backend->acquire_count();
    block.commit(block.prepare_offload(world.options(), Site::current()));
    REQUIRE(world.backend->acquire_count() == acquired);
    REQUIRE(content_of(block) == pattern());
}

TEST_CASE("A block whose home is the host stays there") {
    World world;
    auto block = OffloadableState::on_host(bytes, world.stream, world.options("home"), Site::current());
    block.write(pattern());
    const auto* address = block.host_bytes().data();
    block.commit(block.prepare_offload(world.options(), Site::current()));
    block.commit(block.prepare_reload());
    REQUIRE(block.location() == StateLocation::host);
    REQUIRE(block.host_bytes().data() == address);
    REQUIRE(content_of(block) == pattern());
}

TEST_CASE("The host memory of an offload in flight outlives the block") {
    World world;
    auto block = world.on_device();
    {
        const auto hold = world.accelerator->hold();
        block.commit(block.prepare_offload(world.options(), Site::current()));
        block = OffloadableState();
        REQUIRE(world.scope.report().counts.in_flight.pins == 1);
        REQUIRE(world.backend->outstanding().size() == 1);
    }
    REQUIRE(world.scope.close(std::chrono::seconds(10)).records.empty());
    REQUIRE(world.backend->outstanding().empty());
}

TEST_CASE("Reading and writing a block refuses another size") {
    World world;
    auto block = world.on_device();
    std::vector<std::byte> wrong(bytes - 1);
    REQUIRE_THROWS_AS(block.read(wrong), SizeError);
    REQUIRE_THROWS_AS(block.write(wrong), SizeError);
    REQUIRE(content_of(block) == pattern());
}

TEST_CASE("A block of no bytes changes place like any other and holds nothing") {
    World world;
    auto block = world.on_device(0);
    block.commit(block.prepare_offload(world.options(), Site::current()));
    REQUIRE(block.location() == StateLocation::host);
    REQUIRE_FALSE(block.is_pinned());
    REQUIRE(world.backend->acquire_count() == 0);
    REQUIRE(content_of(block).empty());
    block.commit(block.prepare_reload());
    REQUIRE(block.location() == StateLocation::device);
}

TEST_CASE("A transient block gives its memory back, takes none on the host, and comes back as zeros") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("test");
    auto block = zero::OffloadableState::transient(100, stream, "bucket");
    const std::vector<std::byte> zeros(100);
    std::vector<std::byte> content(100, std::byte{1});
    block.read(content);
    REQUIRE(content == zeros);
    block.write(std::vector<std::byte>(100, std::byte{7}));

    const std::size_t pins = audit::Registry::instance().counts().live.pins;
    block.commit(block.prepare_offload({.label = ""}, Site::current()));
    stream->synchronize();
    REQUIRE(block.location() == zero::StateLocation::host);
    REQUIRE_FALSE(block.is_pinned());
    REQUIRE(audit::Registry::instance().counts().live.pins == pins);
    REQUIRE(accelerator->memory().in_use == 0);
    REQUIRE(block.size_bytes() == 100);
    content.assign(100, std::byte{1});
    block.read(content);
    REQUIRE(content == zeros);

    block.commit(block.prepare_reload());
    stream->synchronize();
    REQUIRE(accelerator->memory().in_use == 100);
    content.assign(100, std::byte{1});
    block.read(content);
    REQUIRE(content == zeros);
}

TEST_CASE("A part of a block is copied to device memory and back, wherever the block is") {
    const auto accelerator = make_cpu_accelerator();
    const auto stream = accelerator->create_stream("test");
    auto block = zero::OffloadableState::on_device(8, stream, "block");
    std::vector<std::byte> content(8);
    for (std::size_t i = 0; i < 8; ++i) content[i] = static_cast<std::byte>(i);
    block.write(content);
    for (int round = 0; round < 2; ++round) {
        DeviceBuffer<std::byte> device(3, stream);
        block.copy_to_device(4, device.device_span());
        block.copy_from_device(0, device.device_span());
        stream->synchronize();
        std::vector<std::byte> now(8);
        block.read(now);
        REQUIRE(now[0] == std::byte{4});
        REQUIRE(now[2] == std::byte{6});
        REQUIRE(now[3] == std::byte{3});
        REQUIRE(now[4] == std::byte{4});
        REQUIRE_THROWS_AS(block.copy_to_device(6, device.device_span()), SizeError);
        REQUIRE_THROWS_AS(block.copy_from_device(9, device.device_span().first(0)), SizeError);
        block.write(content);
        block.commit(block.prepare_offload({.label = ""}, Site::current()));
    }
}
