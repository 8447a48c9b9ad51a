// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Bytes of unknown origin made fit for a place that does not take all bytes: a terminal, JSON, XML.

#include <string>
#include <string_view>

#include <pinwarden/core/export.hpp>

namespace pinwarden::audit {

/// The text on one line and without control characters, which a terminal would obey: `\n`, `\t` and `\x1b` stand for
/// themselves. Everything else stays.
[[nodiscard]] PINWARDEN_API std::string printable(std::string_view bytes);

/// The text as valid UTF-8: every byte that is part of no character becomes U+FFFD.
[[nodiscard]] PINWARDEN_API std::string valid_utf8(std::string_view bytes);

/// The text for the content of an XML 1.0 element, or for an attribute in double quotes. Line ends and tabs are written
/// as references, so that no parser turns them into spaces; what XML cannot hold in any form becomes U+FFFD.
[[nodiscard]] PINWARDEN_API std::string xml_escaped(std::string_view bytes);

}  // namespace pinwarden::audit
