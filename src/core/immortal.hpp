// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>
#include <utility>

namespace pinwarden::detail {

/// Holds an object that is never destroyed, so that it may be used while the process ends.
template <typename T>
class Immortal {
public:
    template <typename... Arguments>
    explicit Immortal(Arguments&&... arguments) {
        ::new (static_cast<void*>(storage_)) T(std::forward<Arguments>(arguments)...);
    }

    Immortal(const Immortal&) = delete;
    Immortal& operator=(const Immortal&) = delete;
    ~Immortal() = default;

    [[nodiscard]] T& get() noexcept { return *std::launder(reinterpret_cast<T*>(storage_)); }

private:
    alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace pinwarden::detail
