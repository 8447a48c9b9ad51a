// SPDX-License-Identifier: Apache-2.0

// A scratch must outlive what it hands out.
// expect clang: temporary whose address is used as value of local variable 'elements' will be destroyed

#include <gsl/span>

#include <pinwarden/own/pinned_scratch.hpp>

void fill(pinwarden::PinnedScratch<float>& scratch) {
#if defined(PINWARDEN_FORBIDDEN)
    const gsl::span<float> elements = pinwarden::PinnedScratch<float>(8).acquire(8);
    (void)scratch;
#else
    const gsl::span<float> elements = scratch.acquire(8);
#endif
    elements[0] = 1.0F;
}
