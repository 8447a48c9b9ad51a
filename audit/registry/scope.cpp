// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/scope.hpp>

#include <utility>

#include "registry/ledger.hpp"
#include "registry/selection_report.hpp"

namespace pinwarden::audit {

ScopeRef::ScopeRef(std::shared_ptr<const std::string> name) noexcept : name_(std::move(name)) {}

std::string_view ScopeRef::name() const noexcept { return name_ ? std::string_view(*name_) : std::string_view(); }

Scope::Scope(std::string name) : ref_(std::make_shared<const std::string>(std::move(name))) {}

Scope::~Scope() {
    if (closed_ || ref_ == ScopeRef()) return;
    complain_if_live({.scope = &ref_}, name(),
                     "a scope ended while pins of it were live, and there was no memory to list them");
}

LeakReport Scope::report() const {
    LeakReport report = report_of({.scope = &ref_});
    report.scope = name();
    return report;
}

LeakReport Scope::close(std::chrono::nanoseconds deadline) {
    Ledger::instance().await(ref_, deadline);
    closed_ = true;
    return report();
}

}  // namespace pinwarden::audit
