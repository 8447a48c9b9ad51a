// SPDX-License-Identifier: Apache-2.0

// Assigning a copy would leave two owners of one pin.
// expect gcc: use of deleted function .*PinnedScratch<int>::operator=\(const
// expect clang: object of type .*PinnedScratch<int>.* cannot be assigned because its copy assignment operator

#include <utility>

#include <pinwarden/own/pinned_scratch.hpp>

void take(pinwarden::PinnedScratch<int>& to, pinwarden::PinnedScratch<int>& from) {
#if defined(PINWARDEN_FORBIDDEN)
    to = from;
#else
    to = std::move(from);
#endif
}
