// SPDX-License-Identifier: Apache-2.0

// A handle is const as deep as its elements.
// expect gcc: assignment of read-only location
// expect clang: (cannot assign to return value because|read-only variable is not assignable)

#include <pinwarden/own/pinned_buffer.hpp>

float first(const pinwarden::PinnedBuffer<float>& buffer) {
#if defined(PINWARDEN_FORBIDDEN)
    buffer.span()[0] = 1.0F;
#endif
    return buffer.span()[0];
}
