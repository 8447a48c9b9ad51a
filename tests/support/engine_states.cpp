// SPDX-License-Identifier: Apache-2.0
#include <support/engine_states.hpp>

#include <chrono>
#include <thread>

#include <pinwarden/audit/registry.hpp>

namespace pinwarden::testing {

StateContents contents_of(const zero::Engine& engine) {
    StateContents contents;
    for (std::size_t i = 0; i < contents.size(); ++i)
        contents[i] = engine.snapshot(zero::all_offload_states[i]);
    return contents;
}

std::array<zero::StateLocation, zero::all_offload_states.size()> locations_of(const zero::Engine& engine) {
    std::array<zero::StateLocation, zero::all_offload_states.size()> locations{};
    for (std::size_t i = 0; i < locations.size(); ++i)
        locations[i] = engine.location(zero::all_offload_states[i]);
    return locations;
}

std::size_t device_bytes_of(const zero::Engine& engine) {
    std::size_t bytes = 0;
    for (const auto state : zero::all_offload_states) {
        if (engine.location(state) == zero::StateLocation::device) bytes += engine.size_bytes(state);
    }
    return bytes;
}

audit::Tally live_pins_of(std::string_view scope) {
    audit::Tally tally;
    for (const auto& record : audit::Registry::instance().snapshot()) {
        if (record.scope != scope || record.state != audit::PinState::live) continue;
        ++tally.pins;
        tally.bytes += record.bytes;
        tally.locked_bytes += record.locked_bytes;
    }
    return tally;
}

std::size_t registry_locked_bytes() {
    audit::Registry::instance().collect();
    return audit::Registry::instance().counts().locked_bytes();
}

bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

}  // namespace pinwarden::testing
