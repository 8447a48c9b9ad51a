// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/scripted_backend.hpp>

#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/core/bytes.hpp>

#include "backend/refusal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace pinwarden {
namespace {

using Operation = ScriptedBackend::Operation;

bool acquires(Operation operation) noexcept {
    return operation == Operation::allocate || operation == Operation::register_memory;
}

// What `address` and `bytes` would lock, for a backend that only pretends to.
std::size_t whole_pages(const std::byte* address, std::size_t bytes) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(address) & (page_bytes() - 1);
    return round_up(offset + bytes, page_bytes());
}

}  // namespace

ScriptedBackend::ScriptedBackend() : inner_(pageable_backend()), pretends_(true) {}

ScriptedBackend::ScriptedBackend(PinBackendPtr inner) : inner_(std::move(inner)), pretends_(false) {}

ScriptedBackend::~ScriptedBackend() {
    // Releases that the script answered itself never reached `inner_`; nobody holds those blocks any more.
    for (const Call& call : calls_) {
        if (call.answer != UnpinStatus::done) {
            [[maybe_unused]] const UnpinAnswer answer = forward_release(call.operation, call.block);
        }
    }
}

void ScriptedBackend::fail_acquire(std::size_t nth) {
    const std::scoped_lock lock(mutex_);
    fail_at_ = nth == 0 ? 0 : acquired_ + nth;
}

void ScriptedBackend::answer_release(UnpinStatus answer) {
    const std::scoped_lock lock(mutex_);
    release_answer_ = answer;
}

std::vector<ScriptedBackend::Call> ScriptedBackend::calls() const {
    const std::scoped_lock lock(mutex_);
    return calls_;
}

std::size_t ScriptedBackend::acquire_count() const {
    const std::scoped_lock lock(mutex_);
    return acquired_;
}

std::vector<HostBlock> ScriptedBackend::outstanding() const {
    const std::scoped_lock lock(mutex_);
    std::vector<HostBlock> blocks;
    for (const Call& call : calls_) {
        if (acquires(call.operation)) {
            if (!call.refused) blocks.push_back(call.block);
            continue;
        }
        const auto acquired = std::ranges::find(blocks, call.block.address, &HostBlock::address);
        if (acquired != blocks.end()) blocks.erase(acquired);
    }
    return blocks;
}

std::string_view ScriptedBackend::name() const noexcept { return "scripted"; }

bool ScriptedBackend::pins() const noexcept { return true; }

HostBlock ScriptedBackend::allocate(std::size_t bytes) { return acquire(Operation::allocate, nullptr, bytes); }

UnpinAnswer ScriptedBackend::deallocate(const HostBlock& block) noexcept {
    return release(Operation::deallocate, block);
}

HostBlock ScriptedBackend::register_memory(std::byte* address, std::size_t bytes) {
    return acquire(Operation::register_memory, address, bytes);
}

UnpinAnswer ScriptedBackend::unregister_memory(const HostBlock& block) noexcept {
    return release(Operation::unregister_memory, block);
}

HostBlock ScriptedBackend::acquire(Operation operation, std::byte* address, std::size_t bytes) {
    {
        const std::scoped_lock lock(mutex_);
        // This call, its release, and the same for every other that may still be on its way in.
        const std::size_t needed = calls_.size() + 2 * (outstanding_ + 1);
        if (calls_.capacity() < needed) calls_.reserve(2 * needed);
        ++acquired_;
        if (acquired_ == fail_at_) {
            calls_.push_back({.operation = operation, .block = {address, bytes, 0}, .refused = true});
            throw detail::refused(name(), fmt::format("acquisition number {} of {} bytes", acquired_, bytes),
                                  "ENOMEM (on demand of the script)", ENOMEM, bytes,
                                  "the test that set the script knows");
        }
        ++outstanding_;
    }
    HostBlock block;
    try {
        block = operation == Operation::allocate ? inner_->allocate(bytes) : inner_->register_memory(address, bytes);
    } catch (...) {
        const std::scoped_lock lock(mutex_);
        --outstanding_;
        calls_.push_back({.operation = operation, .block = {address, bytes, 0}, .refused = true});
        throw;
    }
    if (pretends_) block.locked_bytes = whole_pages(block.address, bytes);
    const std::scoped_lock lock(mutex_);
    calls_.push_back({.operation = operation, .block = block});
    return block;
}

UnpinAnswer ScriptedBackend::release(Operation operation, const HostBlock& block) noexcept {
    UnpinStatus scripted{};
    {
        const std::scoped_lock lock(mutex_);
        scripted = release_answer_;
        --outstanding_;
        calls_.push_back({.operation = operation, .block = block, .answer = scripted});
    }
    if (scripted == UnpinStatus::failed) return {scripted, "scripted unpin", EIO};
    if (scripted == UnpinStatus::unloading) return {scripted, "", 0};
    return forward_release(operation, block);
}

UnpinAnswer ScriptedBackend::forward_release(Operation operation, const HostBlock& block) noexcept {
    return operation == Operation::deallocate ? inner_->deallocate(block) : inner_->unregister_memory(block);
}

}  // namespace pinwarden
