// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/pin_backend.hpp>

namespace pinwarden {

PinBackend::~PinBackend() = default;

bool PinBackend::is_device_pinned(const HostBlock& block) const noexcept { return block.device_pinned; }

audit::BlockCache* PinBackend::cache() noexcept { return nullptr; }

}  // namespace pinwarden
