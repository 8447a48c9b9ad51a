// SPDX-License-Identifier: Apache-2.0
#include "report/report_format.hpp"

#include <pinwarden/core/bytes.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "report/pin_text.hpp"
#include "report/plain_text.hpp"

namespace pinwarden::audit {
namespace {

// A leak in the sense of `clean`: what is cached or quarantined is kept on purpose, and stands in the text only.
bool fails(const StoredPin& pin) { return pin.state == PinState::live || pin.state == PinState::in_flight; }

// The content of an element; its line ends stay, since nothing turns them into spaces there.
std::string content(std::string_view text) {
    std::string escaped;
    while (true) {
        const auto end = text.find('\n');
        escaped += xml_escaped(text.substr(0, end));
        if (end == std::string_view::npos) return escaped;
        escaped += '\n';
        text.remove_prefix(end + 1);
    }
}

std::string group_of(const StoredPin& pin) {
    std::string group = "pinwarden";
    if (!pin.process.empty()) group += "." + pin.process;
    if (!pin.scope.empty()) group += "." + pin.scope;
    return group;
}

std::string message_of(const StoredPin& pin) {
    return fmt::format("{} '{}' of {} at {}:{}", to_string(pin.state), pin.label.empty() ? "unlabelled" : pin.label,
                       format_bytes(pin.bytes), pin.file, pin.line);
}

void append_case(std::string& xml, const StoredPin& pin) {
    const std::string message = message_of(pin);
    std::string text = line_of(pin);
    for (const StoredFrame& frame : pin.stack) text += "\n  " + line_of(frame);
    fmt::format_to(std::back_inserter(xml),
                   "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\" time=\"0\">\n"
                   "      <failure type=\"{}\" message=\"{}\">{}</failure>\n"
                   "    </testcase>\n",
                   xml_escaped(group_of(pin)), xml_escaped("released: " + message), xml_escaped(pin.file), pin.line,
                   to_string(pin.state), xml_escaped(message), content(text));
}

}  // namespace

std::string write_junit(const StoredReport& report) {
    const auto failures = static_cast<std::size_t>(std::ranges::count_if(report.pins, fails));
    // A server that counts tests must see one where nothing is wrong.
    const bool passes = failures == 0;
    const std::size_t tests = passes ? 1 : failures;
    std::string xml = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"pinwarden\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" time=\"0\">\n"
        "  <testsuite name=\"pinwarden\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" skipped=\"0\" time=\"0\">\n",
        tests, failures);
    if (passes) {
        xml += "    <testcase classname=\"pinwarden\" name=\"no pin is live and none is in flight\" time=\"0\"/>\n";
    }
    for (const StoredPin& pin : report.pins) {
        if (fails(pin)) append_case(xml, pin);
    }
    fmt::format_to(std::back_inserter(xml), "    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>",
                   content(write_text(report)));
    return xml;
}

}  // namespace pinwarden::audit
