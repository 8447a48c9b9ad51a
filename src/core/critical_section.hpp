// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A locked mutex that its thread knows of.
///
/// A signal handler that calls exit() destroys static handles on top of whatever it interrupted. If that was the audit
/// with a mutex locked, the thread would wait for itself; so whoever is called on the way out asks first.

#include <atomic>
#include <mutex>

#include <pinwarden/core/export.hpp>

namespace pinwarden::detail {

/// Holds a mutex for a scope.
class [[nodiscard]] PINWARDEN_API CriticalSection {
public:
    explicit CriticalSection(std::mutex& mutex) : mutex_(mutex) {
        enter();
        mutex_.lock();
    }
    CriticalSection(const CriticalSection&) = delete;
    CriticalSection& operator=(const CriticalSection&) = delete;
    ~CriticalSection() {
        mutex_.unlock();
        leave();
    }

    /// Whether this thread is in one: true only in a signal handler that has interrupted it there.
    [[nodiscard]] static bool is_interrupted() noexcept;

private:
    static void enter() noexcept;
    static void leave() noexcept;

    std::mutex& mutex_;
};

}  // namespace pinwarden::detail
