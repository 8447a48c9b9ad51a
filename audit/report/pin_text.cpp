// SPDX-License-Identifier: Apache-2.0
#include "report/pin_text.hpp"

#include <pinwarden/core/bytes.hpp>

#include <iterator>

#include <fmt/format.h>

#include "report/plain_text.hpp"

namespace pinwarden::audit {

std::string line_of(const StoredPin& pin) {
    constexpr double nanoseconds_per_second = 1e9;
    std::string text = fmt::format(
        "{}:{}: {} '{}' of {} at {}, {} locked by the {} backend, {:.3f} s old", printable(pin.file), pin.line,
        to_string(pin.state), pin.label.empty() ? "unlabelled" : printable(pin.label), format_bytes(pin.bytes),
        printable(pin.address), format_bytes(pin.locked_bytes), printable(pin.backend),
        static_cast<double>(pin.age_ns) / nanoseconds_per_second);
    if (!pin.scope.empty()) fmt::format_to(std::back_inserter(text), ", scope '{}'", printable(pin.scope));
    if (!pin.process.empty()) fmt::format_to(std::back_inserter(text), ", process '{}'", printable(pin.process));
    if (!pin.detail.empty()) fmt::format_to(std::back_inserter(text), ", {}", printable(pin.detail));
    return text;
}

std::string line_of(const StoredFrame& frame) {
    std::string text = "by " + (frame.function.empty() ? frame.address : printable(frame.function));
    if (!frame.file.empty()) {
        fmt::format_to(std::back_inserter(text), " at {}:{}", printable(frame.file), frame.line);
    } else if (!frame.module.empty()) {
        fmt::format_to(std::back_inserter(text), " in {}", printable(frame.module));
    }
    return text;
}

}  // namespace pinwarden::audit
