// SPDX-License-Identifier: Apache-2.0
#include "backend/refusal.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace pinwarden::detail {
namespace {

// From this size on the look-up, which costs tens of microseconds, disappears in what locking so much takes.
constexpr std::size_t large_bytes = std::size_t{64} << 20;

}  // namespace

std::string errno_text(int code) {
    const char* name = ::strerrorname_np(code);
    const char* description = ::strerrordesc_np(code);
    if (name == nullptr || description == nullptr) return fmt::format("error {}", code);
    return fmt::format("{} ({})", name, description);
}

PinError refused(std::string_view backend, std::string call, std::string answer, int code, std::size_t bytes_asked,
                 std::string advice) {
    return PinError(PinRefusal{.backend = std::string(backend),
                               .call = std::move(call),
                               .answer = std::move(answer),
                               .code = code,
                               .bytes_asked = bytes_asked,
                               .bytes_locked = kernel_locked_bytes(),
                               .lock_limit = lock_limit_bytes(),
                               .bytes_available = available_bytes(),
                               .advice = std::move(advice)});
}

PinError stuck(const PinError& error, std::byte* address, std::size_t bytes) {
    PinRefusal refusal = error.refusal();
    refusal.stuck_address = address;
    refusal.stuck_bytes = bytes;
    return PinError(std::move(refusal));
}

std::string locking_advice(std::size_t bytes_to_lock) {
    const std::size_t limit = lock_limit_bytes();
    const std::size_t locked = kernel_locked_bytes();
    if (limit == unlimited_bytes || (locked <= limit && bytes_to_lock <= limit - locked)) {
        return "free memory or pin less; a registered range must be mapped as a whole";
    }
    return fmt::format("the limit leaves {}: raise it (`ulimit -l`, `LimitMEMLOCK=` of a systemd unit, "
                       "`--ulimit memlock=-1` of a container), give the process CAP_IPC_LOCK, or pin less",
                       format_bytes(limit - std::min(limit, locked)));
}

void require_available(std::string_view backend, const char* function, std::size_t length, std::size_t asked) {
    if (length < large_bytes) return;
    const std::size_t available = available_bytes();
    if (length <= available) return;
    throw refused(backend, fmt::format("the look at the memory available before {}({})", function, length),
                  fmt::format("{}, which is too little", format_bytes(available)), ENOMEM, asked,
                  "free memory, raise the memory limit of the cgroup, or pin less");
}

}  // namespace pinwarden::detail
