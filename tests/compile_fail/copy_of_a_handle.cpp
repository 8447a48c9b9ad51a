// SPDX-License-Identifier: Apache-2.0

// A handle is the only owner of its pin; a copy would be a second one.
// expect gcc: use of deleted function .*PinnedBuffer<float>::PinnedBuffer\(const
// expect clang: call to implicitly-deleted copy constructor of .*PinnedBuffer<float>

#include <utility>

#include <pinwarden/own/pinned_buffer.hpp>

pinwarden::PinnedBuffer<float> taken(pinwarden::PinnedBuffer<float>& buffer) {
#if defined(PINWARDEN_FORBIDDEN)
    pinwarden::PinnedBuffer<float> other(buffer);
#else
    pinwarden::PinnedBuffer<float> other(std::move(buffer));
#endif
    return other;
}
