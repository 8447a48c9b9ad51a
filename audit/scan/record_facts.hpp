// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ast_facts.hpp"

#include <clang/AST/DeclCXX.h>

namespace pinwarden::scan {

/// What the compiler knows, and will write by itself, about a record.
RecordFact describe_record(clang::RecordDecl& record, const AstFactsInput& input);

}  // namespace pinwarden::scan
