// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What every communicator must do, checked by one of its ranks: all ranks of a group call it together.

#include <pinwarden/zero/communicator.hpp>

namespace pinwarden::testing {

/// Goes through all operations, with parts of different sizes, empty ones among them.
/// @throws std::logic_error that says what is not so
void check_contract(zero::Communicator& ranks);

}  // namespace pinwarden::testing
