// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Whether the native backend's blocks are registered with the machine's devices, and if not, why.
///
/// Locked pages alone do not make copies fast: the device must know them too. Where this build has the CUDA
/// runtime and a device answers, the native backend registers each block before its first use. If that is
/// refused, the block is still locked, `is_device_pinned()` of its handle answers false, and the reason is
/// kept here for reports.
///
/// ```
/// const auto status = pinwarden::device_registration_status();
/// if (status.refused != 0) log(status.last_refusal);
/// ```

#include <cstddef>
#include <string>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// How the registrations of this process went so far.
struct DeviceRegistrationStatus {
    std::size_t registered = 0;  ///< blocks registered, those released since included
    std::size_t refused = 0;     ///< blocks that a device was there for and that it did not take
    std::string
        last_refusal{};  ///< the call, its arguments and its answer; or why there is no device; may be empty
};

/// The status of the process's native backend. Thread-safe; asks no device.
/// @throws std::bad_alloc
[[nodiscard]] PINWARDEN_API DeviceRegistrationStatus device_registration_status();

}  // namespace pinwarden
