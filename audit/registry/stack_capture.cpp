// SPDX-License-Identifier: Apache-2.0
#include "registry/stack_capture.hpp"

#include <pinwarden/core/release_failure.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <unwind.h>

namespace pinwarden::audit {
namespace {

constexpr const char* variable = "PINWARDEN_STACKS";

constinit std::atomic<std::size_t> wanted_frames{0};

struct Walk {
    const void* caller;
    std::size_t wanted;
    bool at_caller = false;  // frames of this library come before
    std::size_t count = 0;
    std::array<const void*, most_stack_frames> frames{};
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    Walk& walk = *static_cast<Walk*>(argument);
    const std::uintptr_t address = _Unwind_GetIP(context);
    if (address == 0) return _URC_END_OF_STACK;
    const auto* const pointer = reinterpret_cast<const void*>(address);
    walk.at_caller = walk.at_caller || pointer == walk.caller;
    if (!walk.at_caller) return _URC_NO_REASON;
    walk.frames[walk.count++] = pointer;
    return walk.count == walk.wanted ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void set_stack_frames(std::size_t innermost) noexcept {
    wanted_frames.store(std::min(innermost, most_stack_frames), std::memory_order_relaxed);
}

std::size_t stack_frames() noexcept { return wanted_frames.load(std::memory_order_relaxed); }

void read_stack_variable() noexcept {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') return;
    std::size_t frames = 0;
    const char* const end = value + std::strlen(value);
    const auto [stop, error] = std::from_chars(value, end, frames);
    if (error == std::errc() && stop == end && frames <= most_stack_frames) {
        set_stack_frames(frames);
        return;
    }
    try {
        const std::string text = fmt::format(
            "{}='{}' is not a whole number from 0 to {}; no stacks are kept. Write how many calls of each pin to keep",
            variable, value, most_stack_frames);
        report_release_failure({.text = text});
    } catch (...) {
        report_release_failure({.text = "PINWARDEN_STACKS is not a number; no stacks are kept"});
    }
}

std::vector<const void*> capture_stack(const void* caller) noexcept {
    const std::size_t wanted = stack_frames();
    if (wanted == 0) return {};
    Walk walk{.caller = caller, .wanted = wanted};
    _Unwind_Backtrace(&visit, &walk);
    try {
        const auto end = walk.frames.begin() + static_cast<std::ptrdiff_t>(walk.count);
        return std::vector<const void*>(walk.frames.begin(), end);
    } catch (...) {
        return {};
    }
}

}  // namespace pinwarden::audit
