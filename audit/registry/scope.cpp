// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/scope.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <utility>

#include "registry/ledger.hpp"

namespace pinwarden::audit {

ScopeRef::ScopeRef(std::shared_ptr<const std::string> name) noexcept : name_(std::move(name)) {}

std::string_view ScopeRef::name() const noexcept { return name_ ? std::string_view(*name_) : std::string_view(); }

Scope::Scope(std::string name) : ref_(std::make_shared<const std::string>(std::move(name))) {}

Scope::~Scope() {
    if (closed_ || ref_ == ScopeRef()) return;
    const Tally live = Ledger::instance().live({.scope = &ref_});
    if (live.pins == 0) return;
    try {
        const std::string text = to_text(report());
        report_release_failure({.text = text, .bytes = live.locked_bytes});
    } catch (...) {
        report_release_failure(
            {.text = "a scope ended while pins of it were live, and there was no memory to list them",
             .bytes = live.locked_bytes});
    }
}

LeakReport Scope::report() const {
    const Registry& registry = Registry::instance();
    LeakReport report;
    report.scope = name();
    report.records = Ledger::instance().records({.scope = &ref_});
    report.counts = count(report.records);
    report.peak_locked_bytes = registry.peak_locked_bytes();
    report.kernel_locked_bytes = kernel_locked_bytes();
    report.fallbacks = registry.fallbacks();
    return report;
}

LeakReport Scope::close(std::chrono::nanoseconds deadline) {
    Ledger::instance().await(ref_, deadline);
    closed_ = true;
    return report();
}

}  // namespace pinwarden::audit
