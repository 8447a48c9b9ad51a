// SPDX-License-Identifier: Apache-2.0

// Closing a scope answers whether it leaks; an answer that nobody reads proves nothing.
// expect gcc: ignoring return value of .*Scope::close\(.*declared with attribute 'nodiscard'
// expect clang: ignoring return value of function declared with 'nodiscard' attribute

#include <chrono>

#include <pinwarden/audit/scope.hpp>

bool is_clean(pinwarden::audit::Scope& scope) {
#if defined(PINWARDEN_FORBIDDEN)
    scope.close(std::chrono::seconds(1));
    return true;
#else
    return scope.close(std::chrono::seconds(1)).is_clean();
#endif
}
