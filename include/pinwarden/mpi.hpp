// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All of the communication by MPI (the target `pinwarden::mpi`) in one header; each part may be included alone as
/// well.

#include <pinwarden/mpi/session.hpp>
