// SPDX-License-Identifier: Apache-2.0
#include <command/train/pin_observer.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <catch2/catch_test_macros.hpp>

#include <memory>
#include <utility>

using namespace pinwarden;
using namespace pinwarden::command;

namespace {

PinnedBuffer<std::byte> page(std::string_view label, std::size_t pages = 1) {
    return PinnedBuffer<std::byte>(pages * page_bytes(), {.backend = native_backend(), .label = label});
}

audit::PinRecord record(std::string label, std::size_t bytes, std::size_t locked, audit::PinState state) {
    audit::PinRecord result;
    result.bytes = bytes;
    result.locked_bytes = locked;
    result.state = state;
    result.label = std::move(label);
    return result;
}

}  // namespace

TEST_CASE("The peak is remembered with its pins, before and after are the kernel's") {
    PinObserver observer;
    {
        const auto first = page("first");
        observer.observe();
        const auto second = page("second", 2);
        observer.observe();
    }
    observer.observe();
    const auto last = page("last");
    observer.observe();

    CHECK(observer.observations() == 4);
    CHECK(!observer.disagreement());
    const KernelLocked& locked = observer.kernel_locked();
    CHECK(locked.peak - locked.before == 3 * page_bytes());
    CHECK(locked.after - locked.before == page_bytes());
    std::vector<std::string> labels;
    for (const auto& entry : tally_by_label(observer.records_at_peak())) labels.push_back(entry.label);
    CHECK(labels == std::vector<std::string>{"first", "second"});
}

TEST_CASE("The registry's own peak misses no moment between observations") {
    const PinObserver observer;
    const std::size_t before = audit::Registry::instance().counts().locked_bytes();
    { const auto unseen = page("unseen", 3); }
    CHECK(PinObserver::peak_locked_bytes() == before + 3 * page_bytes());
}

TEST_CASE("Pins of before the start are on both sides of the balance") {
    const auto early = page("early");
    PinObserver observer;
    observer.observe();
    CHECK(!observer.disagreement());
    CHECK(observer.kernel_locked().after == observer.kernel_locked().before);
}

TEST_CASE("A pin that the kernel knows nothing of is a disagreement, and the first one is kept") {
    PinObserver observer;
    const std::size_t counted = audit::Registry::instance().counts().locked_bytes();
    {
        const PinnedBuffer<std::byte> pretended(page_bytes(),
                                                {.backend = std::make_shared<ScriptedBackend>()});
        observer.observe();
    }
    observer.observe();
    REQUIRE(observer.disagreement());
    CHECK(observer.disagreement()->registry_bytes == counted + page_bytes());
    CHECK(observer.disagreement()->kernel_bytes == observer.kernel_locked().before);
}

TEST_CASE("Pins are added up by label and state, in that order") {
    using audit::PinState;
    const std::vector<audit::PinRecord> records = {
        record("b", 5, 4096, PinState::in_flight), record("b", 1, 4096, PinState::live),
        record("b", 2, 4096, PinState::live), record("a", 3, 8192, PinState::live)};
    const auto tallies = tally_by_label(records);
    REQUIRE(tallies.size() == 3);
    CHECK((tallies[0].label == "a" && tallies[0].tally == audit::Tally{1, 3, 8192}));
    CHECK((tallies[1].label == "b" && tallies[1].state == PinState::live));
    CHECK(tallies[1].tally == audit::Tally{2, 3, 8192});
    CHECK((tallies[2].state == PinState::in_flight && tallies[2].tally == audit::Tally{1, 5, 4096}));
}
