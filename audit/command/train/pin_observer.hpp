// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Watches a run's pins from outside: what the registry says of them, and whether the kernel says the same.
///
/// ```
/// PinObserver observer;
/// observer.observe();           // as often as something may have changed
/// observer.peak_locked_bytes(); // what the registry itself saw, between observations too
/// ```

#include "command/train/summary.hpp"

#include <pinwarden/audit/pin_record.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pinwarden::command {

/// The pins that have a label and a state in common.
struct LabelledTally {
    std::string label;
    audit::PinState state = audit::PinState::live;
    audit::Tally tally;
};

/// `records` added up by label and state, in that order.
[[nodiscard]] std::vector<LabelledTally> tally_by_label(const std::vector<audit::PinRecord>& records);

/// The registry and the kernel did not agree: what each counted as locked.
struct Disagreement {
    std::size_t registry_bytes = 0;
    std::size_t kernel_bytes = 0;
};

/// The observer. For one thread, which is the one that pins: others' pins may come between the two answers.
class PinObserver {
public:
    /// Takes what is locked now as the start, and starts the registry's peak anew.
    PinObserver();

    /// Asks the registry and the kernel, and remembers what is highest.
    void observe();

    /// How often observe() was called.
    [[nodiscard]] std::size_t observations() const noexcept { return observations_; }

    /// The first observation at which the registry and the kernel did not agree; none if they always did.
    [[nodiscard]] const std::optional<Disagreement>& disagreement() const noexcept { return disagreement_; }

    /// The kernel's count of locked bytes: at the start, the highest one observed, the last one observed.
    [[nodiscard]] const KernelLocked& kernel_locked() const noexcept { return kernel_locked_; }

    /// The highest count of locked bytes of the registry, which misses no moment.
    [[nodiscard]] static std::size_t peak_locked_bytes() noexcept;

    /// The pins at the observation with the most locked bytes, the first one of several.
    [[nodiscard]] const std::vector<audit::PinRecord>& records_at_peak() const noexcept {
        return records_at_peak_;
    }

private:
    std::size_t registry_at_start_ = 0;
    KernelLocked kernel_locked_;
    std::size_t observations_ = 0;
    std::size_t highest_registry_bytes_ = 0;
    std::optional<Disagreement> disagreement_;
    std::vector<audit::PinRecord> records_at_peak_;
};

}  // namespace pinwarden::command
