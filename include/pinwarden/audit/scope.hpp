// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A named owner of pins, one per engine, that can prove at its end that it owns none any more.
///
/// ```
/// pinwarden::audit::Scope scope("zero2");
/// pinwarden::PinnedBuffer<float> buffer(1024, {.scope = scope, .label = "hp_params"});
/// // ... drop every handle ...
/// if (auto report = scope.close(std::chrono::seconds(5)); !report.is_clean()) throw audit::LeakError(report);
/// ```

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// Names the scope that a pin belongs to; a cheap copyable value. The empty one stands for no scope.
class PINWARDEN_API ScopeRef {
public:
    ScopeRef() noexcept = default;

    /// The scope's name; empty for no scope.
    [[nodiscard]] std::string_view name() const noexcept;

    friend bool operator==(const ScopeRef&, const ScopeRef&) noexcept = default;

private:
    friend class Scope;
    explicit ScopeRef(std::shared_ptr<const std::string> name) noexcept;

    std::shared_ptr<const std::string> name_;  ///< its address is the scope's identity
};

/// The owner itself. Not thread-safe in itself; its pins may come and go from any thread.
class [[nodiscard]] PINWARDEN_API Scope {
public:
    [[nodiscard]] explicit Scope(std::string name);

    Scope(Scope&&) noexcept = default;
    Scope& operator=(Scope&&) = delete;

    /// Reports pins that are still live through the release-failure handler, unless close() was called.
    ~Scope();

    [[nodiscard]] ScopeRef ref() const noexcept { return ref_; }
    operator ScopeRef() const noexcept { return ref_; }  // so that `.scope = scope` reads as it is meant

    [[nodiscard]] std::string_view name() const noexcept { return ref_.name(); }

    /// This scope's pins at this moment.
    [[nodiscard]] LeakReport report() const;

    /// Waits until nothing of this scope is in flight or `deadline` has passed, and reports what is left. May be
    /// called again, and pins may still be made afterwards.
    [[nodiscard]] LeakReport close(std::chrono::nanoseconds deadline);

private:
    ScopeRef ref_;
    bool closed_ = false;
};

}  // namespace pinwarden::audit
