// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/registry.hpp>

#include "registry/ledger.hpp"

namespace pinwarden::audit {

const Registry& Registry::instance() noexcept {
    static constinit Registry registry;
    return registry;
}

Counts Registry::counts() const noexcept { return Ledger::instance().counts(); }

std::size_t Registry::peak_locked_bytes() const noexcept { return Ledger::instance().peak_locked_bytes(); }

void Registry::reset_peak() const noexcept { Ledger::instance().reset_peak(); }

std::vector<PinRecord> Registry::snapshot() const { return Ledger::instance().records({}); }

std::optional<PinRecord> Registry::find(const void* address) const { return Ledger::instance().find(address); }

Tally Registry::fallbacks() const noexcept { return Ledger::instance().fallbacks(); }

void Registry::collect() const noexcept { Ledger::instance().collect(); }

}  // namespace pinwarden::audit
