// SPDX-License-Identifier: Apache-2.0

// The elements are gone with the temporary that owned them.
// expect clang: temporary whose address is used as value of local variable 'elements' will be destroyed

#include <gsl/span>

#include <pinwarden/own/pinned_buffer.hpp>

pinwarden::PinnedBuffer<float> make();

float first() {
#if defined(PINWARDEN_FORBIDDEN)
    const gsl::span<float> elements = make().span();
#else
    auto buffer = make();
    const gsl::span<float> elements = buffer.span();
#endif
    return elements[0];
}
