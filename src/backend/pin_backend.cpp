// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/pin_backend.hpp>

namespace pinwarden {

PinBackend::~PinBackend() = default;

bool PinBackend::is_device_pinned(const HostBlock&) const noexcept { return false; }

}  // namespace pinwarden
