// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// *How* to pin when the caller does not say: the environment variable `DS_PIN_MEMORY_BACKEND`.
///
/// | value | meaning |
/// | --- | --- |
/// | `native` | native_backend() |
/// | `cuda`, or its older name `torch` | memory from the CUDA runtime |
/// | not set | `cuda` where this build has it and a device answers, otherwise `native` |
///
/// Anything else is an error that lists the valid values, and so is a value whose backend this build or this machine
/// lacks: an explicit choice never falls back. The variable is read once, at the first use.

#include <optional>
#include <string>
#include <string_view>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// The name of the environment variable that chooses the backend.
inline constexpr std::string_view backend_variable = "DS_PIN_MEMORY_BACKEND";

/// A backend and why it was chosen, in words fit for a report.
struct BackendSelection {
    PinBackendPtr backend;
    std::string reason;
};

/// Whether the `cuda` backend can be had, and if not, why.
struct CudaAvailability {
    PinBackendPtr backend;  ///< null if it cannot be had
    std::string reason;     ///< why not; unused otherwise
};

/// The rule of the table above, without reading anything: `value` is the variable's, empty if it is not set.
/// @throws ConfigurationError for an unknown value, UnavailableError for one that cannot be had.
[[nodiscard]] PINWARDEN_API BackendSelection select_backend(std::optional<std::string_view> value,
                                                            const CudaAvailability& cuda);

/// The selection of this process, made at the first call and the same ever after. Thread-safe.
/// @throws ConfigurationError, UnavailableError as select_backend() does, at each call.
[[nodiscard]] PINWARDEN_API const BackendSelection& default_backend();

}  // namespace pinwarden
