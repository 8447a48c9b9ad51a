// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/pin.hpp>

#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/error.hpp>

#include <algorithm>
#include <chrono>
#include <new>
#include <vector>

#include "registry/ledger.hpp"
#include "registry/memory_tools.hpp"
#include "registry/stack_capture.hpp"

namespace pinwarden::detail {
namespace {

using audit::Entry;
using audit::Ledger;

Entry& entry_of(void* handle) noexcept { return audit::HandlePointer::entry_of(handle); }

// What the handle of a live entry holds; the entry is released if there is no memory for it.
void* pointer_to(Entry& entry) {
    try {
        return audit::HandlePointer::to(entry);
    } catch (...) {
        Ledger::instance().release(entry);
        throw;
    }
}

/// Gives a reserved entry back unless the acquisition it was reserved for succeeded.
class Reservation {
public:
    Reservation(const PinOptions& options, const Site& site)
        : entry_(&Ledger::instance().reserve(options.label, options.scope, site)) {}

    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    ~Reservation() {
        if (entry_ != nullptr) Ledger::instance().vacate(*entry_);
    }

    [[nodiscard]] Entry& entry() const noexcept { return *entry_; }

    Entry& publish(const HostBlock& block) noexcept {
        Ledger::instance().publish(*entry_, block);
        return *std::exchange(entry_, nullptr);
    }

private:
    Entry* entry_;
};

void use_backend(Entry& entry, PinBackendPtr backend) noexcept {
    entry.backend = std::move(backend);
    entry.pinned = entry.backend->pins();
}

// The only place where *whether* meets *how*; from here on the entry knows, and nobody asks again.
PinBackendPtr backend_for(const PinOptions& options) {
    if (options.pinning == Pinning::pageable) return pageable_backend();
    return options.backend ? options.backend : default_backend().backend;
}

// Runs `acquire` over the backend chosen, and over pageable memory if that is refused and the options allow it.
template <typename Acquire>
HostBlock acquire_as_allowed(Entry& entry, const PinOptions& options, std::size_t bytes, Acquire acquire) {
    try {
        return acquire();
    } catch (const PinError& error) {
        if (error.refusal().stuck_bytes != 0) {
            try {
                Ledger::instance().keep_stuck(entry, error.refusal());
            } catch (const std::bad_alloc&) {  // it goes uncounted; the caller still has to hear of the refusal
            }
        }
        if (options.pinning != Pinning::prefer_pinned) throw;
    }
    use_backend(entry, pageable_backend());
    HostBlock block = acquire();
    entry.fell_back = true;
    Ledger::instance().note_fallback(bytes);
    return block;
}

}  // namespace

Pin Pin::allocate(std::size_t bytes, const PinOptions& options, const Site& site) {
    if (bytes == 0) return {};
    PinBackendPtr backend = backend_for(options);
    std::vector<const void*> stack = audit::capture_stack(__builtin_return_address(0));
    if (Entry* const reused =
            Ledger::instance().take(backend, bytes, options.label, options.scope, site, stack)) {
        return Pin(pointer_to(*reused));
    }
    Reservation reservation(options, site);
    Entry& entry = reservation.entry();
    entry.stack = std::move(stack);
    use_backend(entry, std::move(backend));
    const HostBlock block =
        acquire_as_allowed(entry, options, bytes, [&] { return entry.backend->allocate(bytes); });
    return Pin(pointer_to(reservation.publish(block)));
}

Pin Pin::adopt(std::byte* address, std::size_t bytes, const PinOptions& options, const Site& site) {
    if (bytes == 0) return {};
    Reservation reservation(options, site);
    Entry& entry = reservation.entry();
    entry.registered = true;
    entry.stack = audit::capture_stack(__builtin_return_address(0));
    entry.block = {address, bytes, 0};
    use_backend(entry, backend_for(options));
    const HostBlock block = acquire_as_allowed(entry, options, bytes, [&] {
        if (!entry.pinned) return entry.backend->register_memory(address, bytes);
        // The range is filed before it is locked: two registrations of one page must not race.
        Ledger& ledger = Ledger::instance();
        ledger.claim(entry);
        try {
            return entry.backend->register_memory(address, bytes);
        } catch (...) {
            ledger.disclaim(entry);
            throw;
        }
    });
    return Pin(pointer_to(reservation.publish(block)));
}

void Pin::release() noexcept {
    Ledger::instance().release(audit::HandlePointer::give_up(std::exchange(entry_, nullptr)));
}

std::byte* Pin::address() const noexcept { return entry_ == nullptr ? nullptr : entry_of(entry_).block.address; }

std::size_t Pin::bytes() const noexcept { return entry_ == nullptr ? 0 : entry_of(entry_).block.bytes; }

std::size_t Pin::locked_bytes() const noexcept {
    return is_pinned() ? entry_of(entry_).block.locked_bytes : 0;
}

bool Pin::is_pinned() const noexcept {
    return entry_ != nullptr && entry_of(entry_).pinned && !audit::is_inert(entry_of(entry_));
}

bool Pin::is_device_pinned() const noexcept {
    if (!is_pinned()) return false;
    const Entry& entry = entry_of(entry_);
    return entry.backend->is_device_pinned(entry.block);
}

bool Pin::fell_back() const noexcept { return entry_ != nullptr && entry_of(entry_).fell_back; }

std::string_view Pin::backend_name() const noexcept {
    return entry_ == nullptr ? std::string_view() : entry_of(entry_).backend->name();
}

void Pin::record_use(CompletionTokenPtr use) const {
    if (entry_ == nullptr) return;
    auto& uses = entry_of(entry_).uses;
    const auto earlier = std::ranges::find(uses, use->queue(), [](const auto& other) { return other->queue(); });
    if (earlier != uses.end()) {
        *earlier = std::move(use);
        return;
    }
    try {
        std::erase_if(uses, [](const CompletionTokenPtr& other) { return other->is_complete(); });
        uses.push_back(use);
    } catch (...) {
        wait_until_complete(*use);
        throw;
    }
}

void Pin::record_use(Stream& stream) const {
    if (entry_ == nullptr) return;
    CompletionTokenPtr point;
    try {
        point = stream.record();
    } catch (...) {
        wait_or_keep(stream);
        throw;
    }
    record_use(std::move(point));
}

void Pin::wait_or_keep(Stream& stream) const noexcept {
    // A stream that has waited throws what failed on it, once. One that throws twice has not waited.
    for (int attempt = 0; attempt != 2; ++attempt) {
        try {
            stream.synchronize();
            return;
        } catch (...) {  // the caller has a better exception
        }
    }
    keep_for_good();
}

void Pin::keep_for_good() const noexcept {
    auto& uses = entry_of(entry_).uses;
    // What is never over includes any other use, so it may take the place of one where there is no memory for more.
    if (uses.size() < uses.capacity()) {
        uses.push_back(lost_work());
    } else {
        uses.front() = lost_work();
    }
}

bool Pin::has_abandoned_use() const noexcept {
    if (entry_ == nullptr) return false;
    return std::ranges::any_of(entry_of(entry_).uses, [](const auto& use) { return use->is_abandoned(); });
}

void Pin::wait() const noexcept {
    // In a child process the queues that would complete a use do not run.
    if (entry_ == nullptr || audit::is_inert(entry_of(entry_))) return;
    auto& uses = entry_of(entry_).uses;
    for (const CompletionTokenPtr& use : uses) wait_until_complete(*use);
    std::erase_if(uses, [](const CompletionTokenPtr& use) { return !use->is_abandoned(); });
}

}  // namespace pinwarden::detail
