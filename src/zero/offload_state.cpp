// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/offload_state.hpp>

namespace pinwarden::zero {

std::string_view to_string(OffloadState state) noexcept {
    switch (state) {
        case OffloadState::optim_states: return "optim_states";
        case OffloadState::hp_params: return "hp_params";
        case OffloadState::lp_params: return "lp_params";
        case OffloadState::lp_grads: return "lp_grads";
        case OffloadState::contiguous_grad_buffer: return "contiguous_grad_buffer";
    }
    return "unknown";
}

std::string_view to_string(StateLocation location) noexcept {
    return location == StateLocation::device ? "device" : "host";
}

std::string to_string(OffloadStates states) {
    std::string text;
    for (const OffloadState state : all_offload_states) {
        if (!states.contains(state)) continue;
        if (!text.empty()) text += ", ";
        text += to_string(state);
    }
    return text;
}

}  // namespace pinwarden::zero
