// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/pin_record.hpp>

#include <utility>

namespace pinwarden::audit {

std::string_view to_string(PinState state) noexcept {
    switch (state) {
        case PinState::live: return "live";
        case PinState::cached: return "cached";
        case PinState::in_flight: return "in_flight";
        case PinState::quarantined: return "quarantined";
    }
    return "unknown";
}

const Tally& Counts::of(PinState state) const noexcept {
    switch (state) {
        case PinState::live: return live;
        case PinState::cached: return cached;
        case PinState::in_flight: return in_flight;
        case PinState::quarantined: break;
    }
    return quarantined;
}

Tally& Counts::of(PinState state) noexcept { return const_cast<Tally&>(std::as_const(*this).of(state)); }

}  // namespace pinwarden::audit
