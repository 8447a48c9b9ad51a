// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The kernel's memory calls with one of them failing, and a book of what is mapped and locked.
///
/// ```
/// FailingKernelCalls kernel;
/// detail::NativePages backend(kernel.table());
/// kernel.fail(2, ENOMEM);                       // the second call from now on answers ENOMEM
/// ```

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <backend/kernel_calls.hpp>

namespace pinwarden::testing {

/// Forwards to the kernel. A table of functions has no object to call: there is one at a time, on one thread.
class [[nodiscard]] FailingKernelCalls {
public:
    FailingKernelCalls();
    FailingKernelCalls(const FailingKernelCalls&) = delete;
    FailingKernelCalls& operator=(const FailingKernelCalls&) = delete;
    ~FailingKernelCalls();

    [[nodiscard]] const detail::KernelCalls& table() const noexcept;

    /// The `nth` call from now on, counted from one, does nothing and answers `code`; 0 clears the order.
    void fail(std::size_t nth, int code);

    /// Every call of the function `name` answers `code`.
    void fail_all(std::string name, int code);

    /// Whether the order of fail() was carried out.
    [[nodiscard]] bool failed() const noexcept { return failed_; }

    /// The names of the functions called, in order.
    [[nodiscard]] const std::vector<std::string>& calls() const noexcept { return calls_; }

    /// Bytes that were mapped and not unmapped, and those of them, or of other memory, that are locked.
    [[nodiscard]] std::size_t mapped_bytes() const noexcept;
    [[nodiscard]] std::size_t locked_bytes() const noexcept;

    /// For the table's functions: notes a call, and answers whether it is to fail, with `errno` set.
    [[nodiscard]] bool refuses(const char* name);
    void note(bool mapped, bool locked, const void* address, std::size_t bytes);
    [[nodiscard]] bool is_mapped(const void* address) const;

private:
    std::vector<std::string> calls_;
    std::set<std::uintptr_t> mapped_;  // pages
    std::set<std::uintptr_t> locked_;  // pages
    std::size_t fail_at_ = 0;
    int code_ = 0;
    std::string failing_name_;
    int failing_name_code_ = 0;
    bool failed_ = false;
};

}  // namespace pinwarden::testing
