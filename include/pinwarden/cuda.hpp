// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All of Pinwarden's CUDA component in one header; there is none in a build without the CUDA Toolkit.

#include <pinwarden/cuda/availability.hpp>
#include <pinwarden/cuda/cuda_accelerator.hpp>
#include <pinwarden/cuda/cuda_backend.hpp>
#include <pinwarden/cuda/native_stream.hpp>
