// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All of SuperOffload (part of the target `pinwarden::zero`) in one header; each part may be included alone
/// as well.

#include <pinwarden/superoffload/core_set.hpp>
#include <pinwarden/superoffload/super_offload.hpp>
