// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/release_failure.hpp>

#include <atomic>

#include <sys/uio.h>
#include <unistd.h>

namespace pinwarden {
namespace {

// One system call, no allocation and no stream: it must work in a destructor, at exit and under memory pressure.
void write_to_standard_error(const ReleaseFailure& failure) noexcept {
    constexpr std::string_view prefix = "pinwarden: ";
    constexpr std::string_view newline = "\n";
    const auto part = [](std::string_view text) {
        return iovec{const_cast<char*>(text.data()), text.size()};
    };
    const iovec parts[] = {part(prefix), part(failure.text), part(newline)};
    // Nobody is left to be told if the standard error stream itself does not take it.
    [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, parts, 3);
}

constinit std::atomic<ReleaseFailureHandler> installed_handler{&write_to_standard_error};

}  // namespace

ReleaseFailureHandler set_release_failure_handler(ReleaseFailureHandler handler) noexcept {
    return installed_handler.exchange(handler != nullptr ? handler : &write_to_standard_error);
}

void report_release_failure(const ReleaseFailure& failure) noexcept { installed_handler.load()(failure); }

}  // namespace pinwarden
