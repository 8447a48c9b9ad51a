// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A value that is made once, never destroyed, and never waited for.
///
/// A `static` local has a lock, and a child of fork() whose parent was making the value would wait for a thread that it
/// does not have. Here threads that come first at the same time each make a value, and the first one counts.

#include <atomic>
#include <memory>

namespace pinwarden::detail {

/// Thread-safe and constant-initialised.
template <typename T>
class Published {
public:
    /// The value; `make` is called if there is none yet.
    /// @throws what `make` throws; there is no value then.
    template <typename Make>
    [[nodiscard]] const T& get_or(Make make) {
        if (const T* const known = value_.load(std::memory_order_acquire)) return *known;
        auto fresh = std::make_unique<const T>(make());
        const T* first = nullptr;
        if (!value_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) return *first;
        return *fresh.release();
    }

private:
    std::atomic<const T*> value_{nullptr};
};

}  // namespace pinwarden::detail
