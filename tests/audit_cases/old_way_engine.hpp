// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Small defective engines, and their corrected twin: what the audit is for.
///
/// All have four buffers, pin them when their states are offloaded, and differ in destroy(). The defect is
/// that of the runtime that this project answers to: destroy() asks the flags of *static* offload whether
/// there is anything to release, but offload_states() pins whatever those flags say.

#include <array>
#include <cstddef>
#include <vector>

#include <pinwarden/audit/scope.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

namespace pinwarden::audit_cases {

/// The configuration of static offload.
struct OffloadFlags {
    bool cpu_offload = false;
    bool cpu_offload_pin_memory = false;
};

/// The size of each of the four buffers: one page.
[[nodiscard]] inline std::size_t buffer_bytes() noexcept { return page_bytes(); }

using Buffer = PinnedBuffer<std::byte>;

/// Handles, but kept where only destroy() drops them, and that only under a condition.
class OldWayEngine {
public:
    explicit OldWayEngine(OffloadFlags flags) : flags_(flags), scope_("old way") {}

    /// Answers the lines of its source that pin: `hp_params`, `exp_avg`, `exp_avg_sq`, `lp_params`.
    std::array<unsigned, 4> offload_states();
    void destroy();

    [[nodiscard]] audit::Scope& scope() noexcept { return scope_; }

private:
    OffloadFlags flags_;
    audit::Scope scope_;
    std::vector<Buffer> offloaded_;
};

/// The corrected twin: what was pinned is released, whatever any flag says.
class NewWayEngine {
public:
    NewWayEngine() : scope_("new way") {}

    void offload_states();
    void destroy();

    [[nodiscard]] audit::Scope& scope() noexcept { return scope_; }

private:
    audit::Scope scope_;
    std::vector<Buffer> offloaded_;
};

/// The same defect with system calls and no handle at all: the registry cannot know these pins, the kernel
/// does.
class RawCallEngine {
public:
    explicit RawCallEngine(OffloadFlags flags) noexcept : flags_(flags) {}

    /// @throws std::system_error if a page cannot be had or locked.
    void offload_states();
    void destroy();

    /// What destroy() should have done; for the test to leave the process as it found it.
    void release_what_destroy_forgot();

private:
    OffloadFlags flags_;
    std::vector<void*> offloaded_;
};

}  // namespace pinwarden::audit_cases
