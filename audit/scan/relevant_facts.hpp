// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "facts.hpp"

namespace pinwarden::scan {

/// Drops what concerns no pinned or released member: headers declare far more records than a file is about.
void keep_relevant(FileFacts& facts);

}  // namespace pinwarden::scan
