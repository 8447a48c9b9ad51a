// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All of the ZeRO engine (the target `pinwarden::zero`) in one header; each part may be included alone as well.

#include <pinwarden/zero/adam.hpp>
#include <pinwarden/zero/communicator.hpp>
#include <pinwarden/zero/config.hpp>
#include <pinwarden/zero/config_fields.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/gradient_norm.hpp>
#include <pinwarden/zero/learning_rate.hpp>
#include <pinwarden/zero/loss_scaler.hpp>
#include <pinwarden/zero/low_precision.hpp>
#include <pinwarden/zero/offload_state.hpp>
#include <pinwarden/zero/offloadable_state.hpp>
#include <pinwarden/zero/parameter_group.hpp>
#include <pinwarden/zero/sub_group_stepper.hpp>
#include <pinwarden/zero/super_offload_options.hpp>
#include <pinwarden/zero/thread_ranks.hpp>
