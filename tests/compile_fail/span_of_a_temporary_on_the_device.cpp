// SPDX-License-Identifier: Apache-2.0

// Device memory goes back behind the work queued so far, so a view of a temporary points at nobody's memory.
// expect clang: temporary whose address is used as value of local variable 'elements' will be destroyed

#include <utility>

#include <gsl/span>

#include <pinwarden/accelerator/device_buffer.hpp>

std::size_t size(pinwarden::StreamPtr stream) {
#if defined(PINWARDEN_FORBIDDEN)
    const gsl::span<float> elements = pinwarden::DeviceBuffer<float>(8, std::move(stream)).device_span();
#else
    pinwarden::DeviceBuffer<float> buffer(8, std::move(stream));
    const gsl::span<float> elements = buffer.device_span();
#endif
    return elements.size();
}
