// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <pinwarden/core/error.hpp>

namespace pinwarden::detail {

/// `ENOMEM (Cannot allocate memory)`: the name and the text of an `errno`.
[[nodiscard]] std::string errno_text(int code);

/// The error for a pin that was refused, with the figures of the process and the machine at this moment.
[[nodiscard]] PinError refused(std::string_view backend, std::string call, std::string answer, int code,
                               std::size_t bytes_asked, std::string advice);

/// The same error, of a pin of which whole pages could not be undone.
[[nodiscard]] PinError stuck(const PinError& error, std::byte* address, std::size_t bytes);

/// What to do about pages that the kernel would not lock: depends on whether the limit forbids it.
[[nodiscard]] std::string locking_advice(std::size_t bytes_to_lock);

/// Refuses a large request that the machine cannot meet before `function(length)` is called for it: a memory cgroup
/// may kill the process instead of refusing. Smaller ones are not looked up.
/// @throws PinError
void require_available(std::string_view backend, const char* function, std::size_t length, std::size_t asked);

}  // namespace pinwarden::detail
