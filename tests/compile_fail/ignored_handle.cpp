// SPDX-License-Identifier: Apache-2.0

// A handle that nobody keeps pins and unpins at once.
// expect gcc: ignoring returned value of type 'pinwarden::PinnedBuffer<float>', declared with attribute 'nodiscard'
// expect clang: ignoring return value of (type|function) .*declared with 'nodiscard' attribute

#include <pinwarden/own/pinned_buffer.hpp>

pinwarden::PinnedBuffer<float> make();

void use() {
#if defined(PINWARDEN_FORBIDDEN)
    make();
#else
    const auto buffer = make();
#endif
}
