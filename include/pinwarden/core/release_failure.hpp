// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What happens when a release fails.
///
/// Destructors neither throw nor swallow. A failed unpin, and a leak found in a destructor, is handed to one
/// process-wide handler that the program may replace. The memory concerned is quarantined, never freed.
///
/// ```
/// pinwarden::set_release_failure_handler([](const pinwarden::ReleaseFailure& failure) noexcept {
///     my_log(failure.text);
/// });
/// ```

#include <cstddef>
#include <string_view>

#include <pinwarden/core/export.hpp>
#include <pinwarden/core/site.hpp>

namespace pinwarden {

/// One failed release. The views are valid during the call of the handler only.
struct ReleaseFailure {
    std::string_view text;             ///< one complete sentence: the call, its arguments, the answer
    const void* address = nullptr;     ///< start of the memory that is still pinned; null for a leak report
    std::size_t bytes = 0;             ///< bytes that stay locked
    int code = 0;                      ///< `errno` or the driver's error code; 0 for a leak report
    Site site{};                       ///< where that memory was pinned
};

/// A handler must not throw, may be called from any thread and several at once, and must not pin or unpin.
using ReleaseFailureHandler = void (*)(const ReleaseFailure&) noexcept;

/// Installs `handler`, or the default one for null, and returns the one it replaces. Thread-safe.
PINWARDEN_API ReleaseFailureHandler set_release_failure_handler(ReleaseFailureHandler handler) noexcept;

/// Calls the installed handler. The default one writes the text as one line to the standard error stream.
PINWARDEN_API void report_release_failure(const ReleaseFailure& failure) noexcept;

}  // namespace pinwarden
