// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "zero/engine_impl.hpp"

namespace pinwarden::zero {
namespace {

// The moves of one call. Dropping them undoes what was prepared; committing them cannot fail.
class Moves {
public:
    void add(OffloadableState& block, OffloadableState::Move move) {
        moves_.push_back({&block, std::move(move)});
    }

    void commit() noexcept {
        for (auto& [block, move] : moves_) block->commit(std::move(move));
    }

private:
    struct Entry {
        OffloadableState* block;
        OffloadableState::Move move;
    };
    std::vector<Entry> moves_;
};

// Commits once no copy can fail any more; blocking, also waits until the memory that was left is given back.
void finish(Moves& moves, Stream& stream, bool non_blocking) {
    if (!non_blocking) stream.synchronize();
    moves.commit();
    if (!non_blocking) stream.synchronize();  // behind frees alone, which have nothing to throw
}

}  // namespace

void Engine::Impl::offload(OffloadStates include, Pinning pinning, bool non_blocking, const Site& site) {
    require_usable("offload_states()");
    take_back_early_step();
    parameters_->publish();
    Moves moves;
    for (const OffloadState state : all_offload_states) {
        if (!include.contains(state)) continue;
        for_each_block(state, [&](OffloadableState& block) {
            moves.add(
                block,
                block.prepare_offload(
                    {.pinning = pinning, .backend = options_.backend, .scope = scope_, .label = ""}, site));
        });
    }
    finish(moves, *stream_, non_blocking);
}

void Engine::Impl::reload(bool non_blocking) {
    require_usable("reload_states()");
    take_back_early_step();
    parameters_->publish();
    Moves moves;
    for (const OffloadState state : all_offload_states) {
        for_each_block(state, [&](OffloadableState& block) { moves.add(block, block.prepare_reload()); });
    }
    finish(moves, *stream_, non_blocking);
}

StateLocation Engine::Impl::location(OffloadState state) const noexcept {
    // All blocks of a state move together, so that any of them answers for all.
    StateLocation where = home(state);
    for_each_block(state, [&](const OffloadableState& block) { where = block.location(); });
    return where;
}

StateLocation Engine::Impl::home(OffloadState state) const noexcept {
    const bool of_optimizer = state == OffloadState::hp_params || state == OffloadState::optim_states;
    const bool of_model = state == OffloadState::lp_params;
    const bool parameters_on_host = config_.zero_optimization.offload_param.device == OffloadDevice::cpu;
    return (of_optimizer && optimizer_on_host_) || (of_model && parameters_on_host) ? StateLocation::host
                                                                                    : StateLocation::device;
}

bool Engine::Impl::is_pinned(OffloadState state) const noexcept {
    bool any = false;
    bool all = true;
    for_each_block(state, [&](const OffloadableState& block) {
        if (block.size_bytes() == 0) return;
        any = true;
        all = all && block.is_pinned();
    });
    return any && all;
}

std::size_t Engine::Impl::size_bytes(OffloadState state) const noexcept {
    std::size_t bytes = 0;
    for_each_block(state, [&](const OffloadableState& block) { bytes += block.size_bytes(); });
    return bytes;
}

std::vector<std::byte> Engine::Impl::snapshot(OffloadState state) {
    require_usable("snapshot()");
    take_back_early_step();
    parameters_->publish();
    std::vector<std::byte> bytes(size_bytes(state));
    std::size_t offset = 0;
    for_each_block(state, [&](const OffloadableState& block) {
        block.read(gsl::span(bytes).subspan(offset, block.size_bytes()));
        offset += block.size_bytes();
    });
    return bytes;
}

void Engine::Impl::require_usable(std::string_view call) const {
    if (destroyed_) {
        throw EngineError(
            fmt::format("engine '{}': {} after destroy(); make a new engine", options_.name, call));
    }
    if (in_loss_function_) {
        throw EngineError(
            fmt::format("engine '{}': {} from within the loss function of backward(); call it after "
                        "backward() has returned",
                        options_.name, call));
    }
}

void Engine::Impl::require_at_home(std::string_view call, OffloadStates needed) const {
    OffloadStates away;
    for (const OffloadState state : all_offload_states) {
        if (needed.contains(state) && location(state) != home(state)) away.insert(state);
    }
    if (away.empty()) return;
    throw EngineError(
        fmt::format("engine '{}': {} needs states that are offloaded: {}; call reload_states() first",
                    options_.name, call, to_string(away)));
}

}  // namespace pinwarden::zero
