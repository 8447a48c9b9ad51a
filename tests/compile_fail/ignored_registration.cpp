// SPDX-License-Identifier: Apache-2.0

// The memory is unpinned again at the semicolon.
// expect gcc: ignoring return value of .*PinnedRegistration::PinnedRegistration\(.*declared with attribute 'nodiscard'
// expect clang: ignoring temporary .*declared with 'nodiscard' attribute

#include <gsl/span>

#include <pinwarden/own/pinned_registration.hpp>

void use(gsl::span<float> memory) {
#if defined(PINWARDEN_FORBIDDEN)
    pinwarden::PinnedRegistration(memory, {.label = "weights"});
#else
    const pinwarden::PinnedRegistration registration(memory, {.label = "weights"});
#endif
}
