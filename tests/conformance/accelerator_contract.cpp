// SPDX-License-Identifier: Apache-2.0
#include <conformance/accelerator_contract.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include <pinwarden/own/pinned_buffer.hpp>

namespace pinwarden::testing {

std::vector<AcceleratorCase>& accelerator_cases() {
    static std::vector<AcceleratorCase> cases;
    return cases;
}

namespace {

using Bytes = std::vector<std::byte>;
using namespace std::chrono_literals;

constexpr auto forever = std::chrono::nanoseconds::max();

Bytes pattern(std::size_t bytes, unsigned seed) {
    Bytes filled(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        filled[i] = static_cast<std::byte>((i * 31 + seed * 7 + i / 251) & 0xff);
    return filled;
}

// Runs the rest of the test case once for each implementation.
AcceleratorCase each_accelerator() {
    AcceleratorCase chosen = GENERATE(from_range(accelerator_cases()));
    UNSCOPED_INFO("accelerator: " << chosen.name);
    return chosen;
}

// A block that is given back when a check fails half-way.
class Block {
public:
    Block(StreamPtr stream, std::size_t bytes)
        : stream_(std::move(stream)), bytes_(bytes), address_(stream_->allocate(bytes)) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() { give_back(); }

    void give_back() {
        if (address_ != nullptr) stream_->deallocate(std::exchange(address_, nullptr), bytes_);
    }

    [[nodiscard]] std::byte* address() const { return address_; }

private:
    StreamPtr stream_;
    std::size_t bytes_;
    std::byte* address_;
};

}  // namespace

TEST_CASE("Data go to the device and come back whole", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto accelerator = chosen.make();
    const auto stream = accelerator->create_stream("round trip");
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{255}, std::size_t{4096}, std::size_t{3000003}}) {
        const Bytes sent = pattern(bytes, 1);
        Bytes received(bytes);
        Block block(stream, bytes);
        stream->copy_to_device(block.address(), sent.data(), bytes);
        stream->copy_to_host(received.data(), block.address(), bytes);
        stream->synchronize();
        CHECK(received == sent);
    }
}

TEST_CASE("A part of a block can be copied", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("parts");
    const Bytes sent = pattern(1000, 2);
    Bytes received(400);
    Block block(stream, sent.size());
    stream->copy_to_device(block.address(), sent.data(), sent.size());
    stream->copy_to_host(received.data(), block.address() + 600, received.size());
    stream->synchronize();
    CHECK(std::ranges::equal(received, Bytes(sent.begin() + 600, sent.end())));
}

TEST_CASE("Work on one stream runs in the order in which it was queued", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("ordered");
    constexpr std::size_t bytes = 2048;
    constexpr unsigned rounds = 50;
    std::vector<Bytes> sent;
    std::vector<Bytes> received(rounds, Bytes(bytes));
    for (unsigned round = 0; round < rounds; ++round) sent.push_back(pattern(bytes, round));
    Block block(stream, bytes);
    for (unsigned round = 0; round < rounds; ++round) {
        stream->copy_to_device(block.address(), sent[round].data(), bytes);
        stream->copy_to_host(received[round].data(), block.address(), bytes);
    }
    stream->synchronize();
    CHECK(received == sent);
}

TEST_CASE("An event is complete once the work ahead of it is, and stays so", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("eventful");
    const auto sent = PinnedBuffer<std::byte>::copy_of(pattern(512, 3), chosen.host());
    PinnedBuffer<std::byte> received(sent.size(), chosen.host());
    Block block(stream, sent.size());
    const auto open = chosen.hold(*stream);
    stream->copy_to_device(block.address(), sent.data(), sent.size());
    stream->copy_to_host(received.data(), block.address(), sent.size());
    const auto event = stream->record();
    CHECK_FALSE(event->is_complete());
    CHECK_FALSE(event->wait_for(0ns));
    CHECK_FALSE(event->wait_for(-1s));
    CHECK_FALSE(event->wait_for(5ms));
    open();
    CHECK(event->wait_for(forever));
    CHECK(std::ranges::equal(received.span(), sent.span()));  // visible without a further synchronisation
    CHECK(event->is_complete());
    CHECK(event->wait_for(0ns));
}

TEST_CASE("An event waits for nothing that is queued behind it", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("ahead");
    const auto before = stream->record();
    const auto open = chosen.hold(*stream);
    const auto after = stream->record();
    CHECK(before->wait_for(forever));
    CHECK_FALSE(after->is_complete());
    open();
    CHECK(after->wait_for(forever));
}

TEST_CASE("An event of a stream without work is complete", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("idle");
    CHECK(stream->record()->wait_for(forever));
}

TEST_CASE("An event outlives its stream and its accelerator", "[accelerator]") {
    const auto chosen = each_accelerator();
    auto stream = chosen.make()->create_stream("short-lived");
    const auto event = stream->record();
    const std::uint64_t id = stream->id();
    stream.reset();
    CHECK(event->is_complete());
    CHECK(event->wait_for(forever));
    CHECK(event->queue() == id);
    CHECK(event->queue_name() == "short-lived");
}

TEST_CASE("A stream's number is its events' and never another's", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto accelerator = chosen.make();
    const auto other = chosen.make();
    std::set<std::uint64_t> numbers;
    for (int round = 0; round < 20; ++round) {
        for (const auto& device : {accelerator, other}) {
            const auto stream = device->create_stream("numbered");
            CHECK(stream->name() == "numbered");
            CHECK(numbers.insert(stream->id()).second);
            CHECK(stream->record()->queue() == stream->id());
        }
    }
}

TEST_CASE("Streams do not wait for each other", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto accelerator = chosen.make();
    const auto stuck = accelerator->create_stream("stuck");
    const auto free = accelerator->create_stream("free");
    const auto open = chosen.hold(*stuck);
    const auto waiting = stuck->record();
    const Bytes sent = pattern(100, 4);
    Bytes received(sent.size());
    Block block(free, sent.size());
    free->copy_to_device(block.address(), sent.data(), sent.size());
    free->copy_to_host(received.data(), block.address(), sent.size());
    free->synchronize();
    CHECK(received == sent);
    CHECK_FALSE(waiting->is_complete());
    open();
    stuck->synchronize();
    CHECK(waiting->is_complete());
}

TEST_CASE("Destroying a stream finishes what is queued on it", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto accelerator = chosen.make();
    auto stream = accelerator->create_stream("drained");
    const Bytes sent = pattern(1 << 20, 5);
    Bytes received(sent.size());
    std::byte* const block = stream->allocate(sent.size());
    stream->copy_to_device(block, sent.data(), sent.size());
    stream->copy_to_host(received.data(), block, sent.size());
    stream->deallocate(block, sent.size());
    stream.reset();
    CHECK(received == sent);
    CHECK(accelerator->memory().in_use == 0);
}

TEST_CASE("Device memory is counted from its allocation until its free has run", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto accelerator = chosen.make();
    const auto stream = accelerator->create_stream("counted");
    CHECK(accelerator->memory().in_use == 0);
    CHECK(accelerator->memory().allocations == 0);
    Block first(stream, 1000);
    Block second(stream, 500);
    CHECK(accelerator->memory().in_use == 1500);
    CHECK(accelerator->memory().allocations == 2);
    CHECK(accelerator->memory().peak == 1500);
    const auto open = chosen.hold(*stream);
    first.give_back();
    CHECK(accelerator->memory().in_use == 1500);
    open();
    stream->synchronize();
    CHECK(accelerator->memory().in_use == 500);
    CHECK(accelerator->memory().allocations == 1);
    second.give_back();
    stream->synchronize();
    CHECK(accelerator->memory().in_use == 0);
    CHECK(accelerator->memory().allocations == 0);
    CHECK(accelerator->memory().peak == 1500);
}

TEST_CASE("Blocks are aligned to 256 bytes and lie apart", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("aligned");
    std::vector<std::unique_ptr<Block>> blocks;
    std::set<std::byte*> addresses;
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{3}, std::size_t{257}, std::size_t{100000}}) {
        blocks.push_back(std::make_unique<Block>(stream, bytes));
        CHECK(reinterpret_cast<std::uintptr_t>(blocks.back()->address()) % 256 == 0);
        CHECK(addresses.insert(blocks.back()->address()).second);
    }
}

TEST_CASE("An allocation that cannot be had throws and leaves nothing behind", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto accelerator = chosen.make();
    const auto stream = accelerator->create_stream("greedy");
    Block block(stream, 128);
    CHECK_THROWS_AS(stream->allocate(std::numeric_limits<std::size_t>::max() / 2), AcceleratorError);
    CHECK_THROWS_AS(stream->allocate(0), AcceleratorError);
    CHECK(accelerator->memory().in_use == 128);
    CHECK(accelerator->memory().peak == 128);
    CHECK(accelerator->memory().allocations == 1);
}

TEST_CASE("A copy with a null address is refused unless it copies nothing", "[accelerator]") {
    const auto chosen = each_accelerator();
    const auto stream = chosen.make()->create_stream("null");
    Bytes host = pattern(64, 6);
    const Bytes untouched = host;
    Block block(stream, host.size());
    CHECK_THROWS_AS(stream->copy_to_device(nullptr, host.data(), 64), AcceleratorError);
    CHECK_THROWS_AS(stream->copy_to_device(block.address(), nullptr, 64), AcceleratorError);
    CHECK_THROWS_AS(stream->copy_to_host(nullptr, block.address(), 64), AcceleratorError);
    CHECK_THROWS_AS(stream->copy_to_host(host.data(), nullptr, 64), AcceleratorError);
    CHECK_NOTHROW(stream->copy_to_device(nullptr, nullptr, 0));
    CHECK_NOTHROW(stream->copy_to_host(nullptr, nullptr, 0));
    CHECK_NOTHROW(stream->synchronize());
    CHECK(host == untouched);
}

TEST_CASE("Streams and memory keep what they need of the accelerator alive", "[accelerator]") {
    const auto chosen = each_accelerator();
    auto accelerator = chosen.make();
    const auto stream = accelerator->create_stream("orphan");
    accelerator.reset();
    const Bytes sent = pattern(333, 7);
    Bytes received(sent.size());
    Block block(stream, sent.size());
    stream->copy_to_device(block.address(), sent.data(), sent.size());
    stream->copy_to_host(received.data(), block.address(), sent.size());
    stream->synchronize();
    CHECK(received == sent);
}

}  // namespace pinwarden::testing
