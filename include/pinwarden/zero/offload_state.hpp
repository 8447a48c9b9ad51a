// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The states of a ZeRO engine that can be moved to the host, by the names that DeepSpeed gives them.
///
/// ```
/// engine.offload_states({OffloadState::optim_states, OffloadState::hp_params}, Pinning::pinned, true);
/// engine.location(OffloadState::hp_params);   // StateLocation::host
/// ```

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// What can be offloaded on its own.
enum class OffloadState : std::uint8_t {
    optim_states,            ///< Adam's first and second moments, fp32
    hp_params,               ///< the fp32 master parameters
    lp_params,               ///< the bf16 or fp16 parameters that the model computes with
    lp_grads,                ///< their accumulated gradients, in the same precision
    contiguous_grad_buffer,  ///< the bucket that gradients pass on their way to `lp_grads`
};

/// All of them, in the order of the enumeration.
inline constexpr std::array<OffloadState, 5> all_offload_states = {
    OffloadState::optim_states, OffloadState::hp_params, OffloadState::lp_params, OffloadState::lp_grads,
    OffloadState::contiguous_grad_buffer};

/// The name used in reports and errors: `optim_states` and so on.
[[nodiscard]] PINWARDEN_API std::string_view to_string(OffloadState state) noexcept;

/// Where a state is.
enum class StateLocation : std::uint8_t {
    device,  ///< in the accelerator's memory
    host,    ///< in host memory, pinned or pageable
};

/// The name used in reports: `device`, `host`.
[[nodiscard]] PINWARDEN_API std::string_view to_string(StateLocation location) noexcept;

/// A set of states; a small copyable value.
class PINWARDEN_API OffloadStates {
public:
    /// The empty set.
    constexpr OffloadStates() noexcept = default;

    /// The given states; braces around one or several convert, so that calls read as they are meant.
    constexpr OffloadStates(std::initializer_list<OffloadState> states) noexcept {
        for (const OffloadState state : states) insert(state);
    }
    constexpr OffloadStates(OffloadState state) noexcept { insert(state); }

    /// The set of all five.
    [[nodiscard]] static constexpr OffloadStates all() noexcept {
        OffloadStates states;
        for (const OffloadState state : all_offload_states) states.insert(state);
        return states;
    }

    constexpr void insert(OffloadState state) noexcept {
        bits_ = static_cast<std::uint8_t>(bits_ | bit(state));
    }
    [[nodiscard]] constexpr bool contains(OffloadState state) const noexcept {
        return (bits_ & bit(state)) != 0;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

    friend constexpr bool operator==(OffloadStates, OffloadStates) noexcept = default;

private:
    static constexpr std::uint8_t bit(OffloadState state) noexcept {
        return static_cast<std::uint8_t>(1U << static_cast<unsigned>(state));
    }

    std::uint8_t bits_ = 0;
};

/// The names of the states in the set, in the order of the enumeration, separated by `, `.
/// @throws std::bad_alloc
[[nodiscard]] PINWARDEN_API std::string to_string(OffloadStates states);

}  // namespace pinwarden::zero
