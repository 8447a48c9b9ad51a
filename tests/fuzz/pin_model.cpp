// SPDX-License-Identifier: Apache-2.0
#include <fuzz/pin_model.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>

namespace pinwarden::testing {

namespace {

constexpr std::size_t limit = 8 * 4096;

const audit::Registry& registry() { return audit::Registry::instance(); }

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "the model says otherwise: %s\n", what);
    std::abort();
}

bool complete(const std::shared_ptr<ManualToken>& use) { return use->is_complete(); }

}  // namespace

PinModel::PinModel()
    : backend_(std::make_shared<ScriptedBackend>()),
      pool_(std::make_shared<PinnedPool>(backend_, limit)),
      scopes_{audit::Scope("one"), audit::Scope("two")},
      before_(registry().counts()) {}

void PinModel::step(std::uint8_t operation, std::uint8_t slot_number, std::uint8_t argument) {
    Slot& slot = slots_[slot_number % slots_.size()];
    switch (operation % 9) {
        case 0:
        case 1: return pin(slot, argument);
        case 2: return drop(slot);
        case 3: return move(slot, slots_[argument % slots_.size()]);
        case 4: return record_use(slot, argument);
        case 5:
            if (!tokens_.empty()) tokens_[argument % tokens_.size()]->complete();
            return;
        case 6: static_cast<void>(pool_->trim(argument * std::size_t{256})); return;
        case 7: return backend_->fail_acquire(argument % 4);
        default:
            slot.buffer.swap(slots_[argument % slots_.size()].buffer);
            std::swap(slot.bytes, slots_[argument % slots_.size()].bytes);
            std::swap(slot.content, slots_[argument % slots_.size()].content);
            std::swap(slot.pinned, slots_[argument % slots_.size()].pinned);
            std::swap(slot.scope, slots_[argument % slots_.size()].scope);
            std::swap(slot.uses, slots_[argument % slots_.size()].uses);
            return;
    }
}

// The new buffer is there before the old one goes, as in every assignment.
void PinModel::pin(Slot& slot, std::uint8_t argument) {
    Slot fresh;
    fresh.bytes = (argument & 0x0F) * std::size_t{1000};  // up to four pages, or none
    fresh.scope = (argument >> 4) & 1;
    const bool pooled = (argument & 0x20) != 0;
    const Pinning pinning = (argument & 0xC0) == 0      ? Pinning::pageable
                            : (argument & 0xC0) == 0x40 ? Pinning::prefer_pinned
                                                        : Pinning::pinned;
    const PinBackendPtr backend = pooled ? PinBackendPtr(pool_) : PinBackendPtr(backend_);
    try {
        fresh.buffer = PinnedBuffer<std::uint8_t>(
            fresh.bytes, {.pinning = pinning, .backend = backend, .scope = scopes_[fresh.scope], .label = "fuzz"});
    } catch (const PinError&) {
        require(pinning == Pinning::pinned, "a pin that may fall back was refused");
        return;
    }
    fresh.pinned = fresh.buffer.is_pinned();
    require(fresh.pinned == (fresh.bytes != 0 && pinning != Pinning::pageable && !fresh.buffer.fell_back()),
            "whether the buffer is pinned");
    fresh.content = argument;
    std::ranges::fill(fresh.buffer.span(), fresh.content);
    move(fresh, slot);
}

void PinModel::drop(Slot& slot) {
    if (!std::ranges::all_of(slot.uses, complete)) waiting_.push_back({slot.bytes, std::move(slot.uses)});
    slot = Slot();
}

void PinModel::move(Slot& from, Slot& to) {
    if (&from == &to) {
        PinnedBuffer<std::uint8_t>& same = from.buffer;
        from.buffer = std::move(same);
        return;
    }
    if (!std::ranges::all_of(to.uses, complete)) waiting_.push_back({to.bytes, std::move(to.uses)});
    to = std::move(from);
    from = Slot();
}

void PinModel::record_use(Slot& slot, std::uint8_t argument) {
    if (slot.bytes == 0) return;
    const std::uint64_t queue = (std::uint64_t{1} << 43U) + argument % 3;
    const Token use = ManualToken::make(queue);
    std::erase_if(slot.uses, [queue](const Token& earlier) { return earlier->queue() == queue; });
    slot.uses.push_back(use);
    tokens_.push_back(use);
    slot.buffer.record_use(use);
}

void PinModel::settle() {
    registry().collect();
    std::erase_if(waiting_, [](const Waiting& block) { return std::ranges::all_of(block.uses, complete); });
}

void PinModel::check_slot(const Slot& slot) const {
    require(slot.buffer.size() == slot.bytes, "the size of a buffer");
    require(slot.buffer.is_pinned() == slot.pinned, "a buffer's pin");
    if (slot.bytes == 0) return;
    require(std::ranges::all_of(slot.buffer.span(), [&](std::uint8_t byte) { return byte == slot.content; }),
            "the content of a buffer that nobody else owns");
    const auto record = registry().find(slot.buffer.data() + slot.bytes - 1);
    require(record.has_value() == slot.pinned, "whether the registry finds a buffer");
    if (!record) return;
    require(record->address == slot.buffer.data() && record->bytes == slot.bytes, "the range of a record");
    require(record->state == audit::PinState::live && record->label == "fuzz", "the state of a record");
    require(record->scope == scopes_[slot.scope].name(), "the scope of a record");
}

void PinModel::check() {
    settle();
    audit::Tally live;
    std::array<std::size_t, 2> of_scope{};
    for (const Slot& slot : slots_) {
        check_slot(slot);
        if (!slot.pinned) continue;
        live.pins += 1;
        live.bytes += slot.bytes;
        of_scope[slot.scope] += 1;
    }
    std::size_t waiting_bytes = 0;
    for (const Waiting& block : waiting_) waiting_bytes += block.bytes;

    const audit::Counts counts = registry().counts();
    require(counts.live.pins - before_.live.pins == live.pins, "how many pins are live");
    require(counts.live.bytes - before_.live.bytes == live.bytes, "how many bytes are live");
    require(counts.in_flight.pins - before_.in_flight.pins == waiting_.size(), "how many blocks are in flight");
    require(counts.in_flight.bytes - before_.in_flight.bytes == waiting_bytes, "how many bytes are in flight");
    const PoolStatistics pool = pool_->statistics();
    require(counts.cached.pins - before_.cached.pins == pool.cached_blocks, "how many blocks are cached");
    require(pool.cached_bytes <= limit, "the limit of the pool");
    require(counts.quarantined == before_.quarantined, "that nothing is quarantined");
    // A scope's report asks the kernel too, which takes longer than all the rest.
    if (++checks_ % 32 != 0) return;
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
        require(scopes_[i].report().counts.live.pins == of_scope[i], "how many pins a scope has");
    }
}

void PinModel::end() {
    for (Slot& slot : slots_) drop(slot);
    for (const Token& token : tokens_) token->complete();
    check();
    require(waiting_.empty(), "that nothing is in flight any more");
    static_cast<void>(pool_->trim());
    require(registry().counts() == before_, "that nothing is left");
    require(backend_->outstanding().empty(), "that every block went back to its backend");
}

}  // namespace pinwarden::testing
