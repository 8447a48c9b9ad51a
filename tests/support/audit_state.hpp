// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the audit and the kernel count at one moment, to be compared with another moment.
///
/// ```
/// const AuditState before = AuditState::now();
/// run_the_code_under_test();
/// CHECK(AuditState::now() == before);
/// ```

#include <cstddef>
#include <ostream>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>

namespace pinwarden::testing {

struct AuditState {
    audit::Counts counts;
    std::size_t kernel_locked_bytes = 0;

    [[nodiscard]] static AuditState now() {
        audit::Registry::instance().collect();
        return {audit::Registry::instance().counts(), pinwarden::kernel_locked_bytes()};
    }

    friend bool operator==(const AuditState&, const AuditState&) = default;

    friend std::ostream& operator<<(std::ostream& out, const AuditState& state) {
        const auto show = [&out](const char* name, const audit::Tally& tally) {
            out << name << ' ' << tally.pins << " (" << tally.bytes << " asked, " << tally.locked_bytes
                << " locked), ";
        };
        show("live", state.counts.live);
        show("cached", state.counts.cached);
        show("in flight", state.counts.in_flight);
        show("quarantined", state.counts.quarantined);
        show("left to system", state.counts.left_to_system);
        return out << "VmLck " << state.kernel_locked_bytes;
    }
};

}  // namespace pinwarden::testing
