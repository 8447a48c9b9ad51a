// SPDX-License-Identifier: Apache-2.0
#include "report/report_at_exit.hpp"

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/core/fork.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "core/critical_section.hpp"
#include "report/report_format.hpp"
#include "report/stored_report.hpp"

namespace pinwarden::audit {
namespace {

constexpr std::string_view variable = "PINWARDEN_REPORT_AT_EXIT";
constexpr std::string_view process_placeholder = "%p";

bool write_file(const std::string& path, const std::string& text) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

void write_report() {
    try {
        const char* const value = ::secure_getenv(variable.data());
        if (value == nullptr || *value == '\0') return;
        if (detail::CriticalSection::is_interrupted()) {
            const std::string failure = fmt::format(
                "{}={}: there is no report, because a signal handler has called exit() and interrupted the audit; "
                "let the handler only note the signal",
                variable, value);
            report_release_failure({.text = failure});
            return;
        }
        std::string path = value;
        const auto placeholder = path.find(process_placeholder);
        if (placeholder != std::string::npos) {
            path.replace(placeholder, process_placeholder.size(), std::to_string(::getpid()));
        } else if (fork_generation() != 0) {
            return;  // the file is the parent's
        }
        if (write_file(path, write(stored(LeakReport::of_process()), format_of(path)))) return;
        const std::string failure =
            fmt::format("{}={}: the report could not be written: {}", variable, value, std::strerror(errno));
        report_release_failure({.text = failure});
    } catch (...) {
        report_release_failure({.text = "there was no memory for the report that PINWARDEN_REPORT_AT_EXIT asks for"});
    }
}

}  // namespace

void arm_report_at_exit() noexcept {
    const char* const value = ::secure_getenv(variable.data());
    if (value == nullptr || *value == '\0') return;
    std::atexit(write_report);
    std::at_quick_exit(write_report);
}

}  // namespace pinwarden::audit
