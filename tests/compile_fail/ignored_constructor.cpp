// SPDX-License-Identifier: Apache-2.0

// A temporary is gone at the semicolon, and with it the pin it was made for.
// expect gcc: ignoring return value of .*PinnedBuffer<.*>::PinnedBuffer\(.*declared with attribute 'nodiscard'
// expect clang: ignoring temporary .*declared with 'nodiscard' attribute

#include <pinwarden/own/pinned_buffer.hpp>

void use() {
#if defined(PINWARDEN_FORBIDDEN)
    pinwarden::PinnedBuffer<float>(8, {.label = "weights"});
#else
    const pinwarden::PinnedBuffer<float> buffer(8, {.label = "weights"});
#endif
}
