// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/registry.hpp>

#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <support/audit_state.hpp>
#include <support/own_pages.hpp>

namespace pinwarden::audit {

namespace {

using testing::AuditState;
using testing::OwnPages;
using Buffer = PinnedBuffer<std::byte>;

const Registry& registry() { return Registry::instance(); }

std::shared_ptr<ScriptedBackend> script() { return std::make_shared<ScriptedBackend>(); }

const std::byte* one_past(const Buffer& buffer) { return buffer.data() + buffer.size(); }

}  // namespace

TEST_CASE("A pin is counted from its making to its release, in bytes asked and locked", "[audit]") {
    const auto backend = script();
    const Counts before = registry().counts();
    Buffer first(100, {.backend = backend});
    Buffer second(page_bytes() + 1, {.backend = backend});
    const Counts during = registry().counts();
    CHECK(during.live.pins == before.live.pins + 2);
    CHECK(during.live.bytes == before.live.bytes + 100 + page_bytes() + 1);
    CHECK(during.live.locked_bytes == before.live.locked_bytes + 3 * page_bytes());
    first.reset();
    CHECK(registry().counts().live.pins == before.live.pins + 1);
    second.reset();
    CHECK(registry().counts() == before);
}

TEST_CASE("Pageable memory is no pin", "[audit]") {
    const Counts before = registry().counts();
    const Buffer buffer(100, {.pinning = Pinning::pageable});
    CHECK(registry().counts() == before);
    CHECK_FALSE(registry().find(buffer.data()));
    const auto records = registry().snapshot();
    CHECK(std::ranges::find(records, static_cast<const void*>(buffer.data()), &PinRecord::address) ==
          records.end());
}

TEST_CASE("The registry and the kernel agree before, during and after", "[audit]") {
    const std::size_t other_locks = kernel_locked_bytes() - registry().counts().locked_bytes();
    const auto agree = [other_locks] {
        return kernel_locked_bytes() == other_locks + registry().counts().locked_bytes();
    };
    CHECK(agree());
    {
        const OwnPages pages(3);
        std::vector<Buffer> buffers;
        for (std::size_t i = 1; i < 10; ++i) {
            buffers.emplace_back(i * 1500, PinOptions{.backend = native_backend()});
            CHECK(agree());
        }
        const PinnedRegistration registration(pages.bytes_at(page_bytes() - 4, 8),
                                              {.backend = native_backend()});
        CHECK(registration.locked_bytes() == 2 * page_bytes());
        CHECK(agree());
        buffers.erase(buffers.begin() + 3);
        CHECK(agree());
    }
    CHECK(agree());
}

TEST_CASE("The peak is the most that was locked at one time since it was started anew", "[audit]") {
    const auto backend = script();
    registry().reset_peak();
    const std::size_t start = registry().peak_locked_bytes();
    CHECK(start == registry().counts().locked_bytes());
    {
        const Buffer first(10 * page_bytes(), {.backend = backend});
        { const Buffer second(5 * page_bytes(), {.backend = backend}); }
        { const Buffer third(2 * page_bytes(), {.backend = backend}); }
    }
    CHECK(registry().peak_locked_bytes() == start + 15 * page_bytes());
    registry().reset_peak();
    CHECK(registry().peak_locked_bytes() == start);
    const Buffer later(page_bytes(), {.backend = backend});
    CHECK(registry().peak_locked_bytes() == start + page_bytes());
    registry().reset_peak();
    CHECK(registry().peak_locked_bytes() == start + page_bytes());
}

TEST_CASE("A pin is found by every address in it, and by no other", "[audit]") {
    const auto backend = script();
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{100}, page_bytes(), 3 * page_bytes() + 1, std::size_t{1} << 22}) {
        const Buffer buffer(bytes, {.backend = backend});
        const std::byte* const first = buffer.data();
        for (const std::byte* inside : {first, first + bytes / 3, first + bytes / 2, first + bytes - 1}) {
            const auto record = registry().find(inside);
            REQUIRE(record);
            CHECK(record->address == first);
            CHECK(record->bytes == bytes);
        }
        CHECK_FALSE(registry().find(one_past(buffer)));
        CHECK_FALSE(registry().find(first - 1));
    }
    const int on_the_stack = 0;
    CHECK_FALSE(registry().find(nullptr));
    CHECK_FALSE(registry().find(&on_the_stack));
}

TEST_CASE("A registration of less than a page is found by its bytes, not by the rest of its page",
          "[audit]") {
    const OwnPages pages(2);
    const PinnedRegistration registration(pages.bytes_at(100, 50), {.backend = script(), .label = "small"});
    CHECK_FALSE(registry().find(pages.data() + 99));
    CHECK(registry().find(pages.data() + 100).value().label == "small");
    CHECK(registry().find(pages.data() + 149).value().label == "small");
    CHECK_FALSE(registry().find(pages.data() + 150));
}

TEST_CASE("A released pin is not found any more", "[audit]") {
    Buffer buffer(100, {.backend = script()});
    const std::byte* const address = buffer.data();
    REQUIRE(registry().find(address));
    buffer.reset();
    CHECK_FALSE(registry().find(address));
}

TEST_CASE("A record tells who asked for the pin, where, when and what for", "[audit]") {
    const Scope scope("registry test");
    std::string label = "hp_params";
    const PinOptions options{.backend = script(), .scope = scope, .label = label};
    const auto start = std::chrono::steady_clock::now();
    const Site site = Site::current();
    const Buffer buffer(5000, options);  // the line below `site`
    label = "somebody else's label";
    const auto record = registry().find(buffer.data()).value();
    CHECK(record.label == "hp_params");
    CHECK(record.scope == "registry test");
    CHECK(record.backend == "scripted");
    CHECK(record.bytes == 5000);
    CHECK(record.locked_bytes == round_up(5000, page_bytes()));
    CHECK(record.state == PinState::live);
    CHECK(record.site.line() == site.line() + 1);
    CHECK(std::string(record.site.file_name()).ends_with("registry_test.cpp"));
    CHECK(record.thread == std::this_thread::get_id());
    CHECK(record.detail.empty());
    CHECK(record.age >= std::chrono::nanoseconds::zero());
    CHECK(record.age <= std::chrono::steady_clock::now() - start);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(registry().find(buffer.data()).value().age >= record.age + std::chrono::milliseconds(2));
}

TEST_CASE("A record names the thread that made the pin, whoever asks", "[audit]") {
    Buffer buffer;
    std::thread::id maker;
    std::jthread([&] {
        maker = std::this_thread::get_id();
        buffer = Buffer(8, {.backend = script()});
    }).join();
    CHECK(registry().find(buffer.data()).value().thread == maker);
    CHECK(maker != std::this_thread::get_id());
}

TEST_CASE("A snapshot holds every pin in the order of addresses", "[audit]") {
    const auto backend = script();
    const std::size_t before = registry().snapshot().size();
    std::vector<Buffer> buffers;
    for (std::size_t i = 1; i <= 200; ++i) buffers.emplace_back(i, PinOptions{.backend = backend});
    const auto records = registry().snapshot();
    CHECK(records.size() == before + buffers.size());
    CHECK(std::ranges::is_sorted(records, {}, &PinRecord::address));
    for (const Buffer& buffer : buffers) {
        const auto same =
            std::ranges::find(records, static_cast<const void*>(buffer.data()), &PinRecord::address);
        REQUIRE(same != records.end());
        CHECK(same->bytes == buffer.size());
    }
}

TEST_CASE("Random pins come and go as in a linear list", "[audit]") {
    const auto backend = script();
    const AuditState before = AuditState::now();
    std::vector<Buffer> model;
    std::mt19937_64 random(7);
    for (std::size_t round = 0; round < 3000; ++round) {
        if (random() % 5 < 3 && model.size() < 100) {
            model.emplace_back(1 + random() % (std::size_t{1} << (random() % 17)),
                               PinOptions{.backend = backend});
        } else if (!model.empty()) {
            std::swap(model[random() % model.size()], model.back());
            model.pop_back();
        }
        if (model.empty()) continue;
        const Buffer& some = model[random() % model.size()];
        const std::byte* const address = some.data() + random() % (some.size() + 2);
        const auto expected = std::ranges::find_if(model, [&](const Buffer& buffer) {
            return buffer.data() <= address && address < one_past(buffer);
        });
        const auto record = registry().find(address);
        REQUIRE(record.has_value() == (expected != model.end()));
        if (record) REQUIRE(record->address == expected->data());
        std::size_t bytes = 0;
        for (const Buffer& buffer : model) bytes += buffer.size();
        const Tally live = registry().counts().live;
        REQUIRE(live.pins == before.counts.live.pins + model.size());
        REQUIRE(live.bytes == before.counts.live.bytes + bytes);
    }
    model.clear();
    CHECK(AuditState::now() == before);
}

TEST_CASE("Preferred pins that became pageable are counted", "[audit]") {
    const auto backend = script();
    const Tally before = registry().fallbacks();
    backend->fail_acquire(1);
    const Buffer fallen(3000, {.pinning = Pinning::prefer_pinned, .backend = backend});
    const Buffer pinned(3000, {.pinning = Pinning::prefer_pinned, .backend = backend});
    const Tally after = registry().fallbacks();
    CHECK(after.pins == before.pins + 1);
    CHECK(after.bytes == before.bytes + 3000);
    CHECK(after.locked_bytes == 0);
}

}  // namespace pinwarden::audit
