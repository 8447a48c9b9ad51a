// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The groups of comparisons; each function adds its own.

namespace pinwarden::bench {

void add_pins();
void add_registry();
void add_engines();

}  // namespace pinwarden::bench
