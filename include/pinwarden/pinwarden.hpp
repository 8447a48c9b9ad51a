// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// All of Pinwarden's library in one header; each part may be included alone as well.

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/leak_guard.hpp>
#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/audit/pin_record.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/audit/stacks.hpp>
#include <pinwarden/audit/test_leaks.hpp>
#include <pinwarden/backend/device_registration.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/backend/selection.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/completion.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>
#include <pinwarden/core/fork.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/core/release_failure.hpp>
#include <pinwarden/core/site.hpp>
#include <pinwarden/own/copy.hpp>
#include <pinwarden/own/pin.hpp>
#include <pinwarden/own/pin_options.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_handle.hpp>
#include <pinwarden/own/pinned_registration.hpp>
#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/pool/pinned_pool.hpp>
