// SPDX-License-Identifier: Apache-2.0

// What is registered is copied as bytes too.
// expect gcc: no matching function for call to .*PinnedRegistration::PinnedRegistration\(
// expect clang: no matching (constructor for initialization of|conversion for .* to) '.*PinnedRegistration'

#include <string>
#include <vector>

#include <gsl/span>

#include <pinwarden/own/pinned_registration.hpp>

#if defined(PINWARDEN_FORBIDDEN)
using Element = std::string;
#else
using Element = int;
#endif

pinwarden::PinnedRegistration make(std::vector<Element>& elements) {
    return pinwarden::PinnedRegistration(gsl::span<Element>(elements));
}
