// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Checks a JSON document against a JSON schema, as far as this project's schemas go.
///
/// Known are `type`, `const`, `enum`, `minimum`, `pattern`, `required`, `properties`, `additionalProperties`,
/// `items`,
/// `$ref` to `#/$defs/…`, and the annotations. A schema that uses anything else is refused: a rule that is
/// not checked must not look as if it were.

#include <string>
#include <string_view>
#include <vector>

namespace pinwarden::testing {

/// One sentence for each violation, with the path of the offending value; none if `document` satisfies
/// `schema`.
/// @throws std::exception if one of them is no JSON or the schema uses an unknown keyword.
[[nodiscard]] std::vector<std::string> schema_problems(std::string_view schema, std::string_view document);

}  // namespace pinwarden::testing
