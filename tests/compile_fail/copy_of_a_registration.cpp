// SPDX-License-Identifier: Apache-2.0

// The end of the first of two registrations of one range would unpin it for the second.
// expect gcc: use of deleted function .*PinnedRegistration::PinnedRegistration\(const
// expect clang: call to (implicitly-)?deleted (copy )?constructor of .*PinnedRegistration

#include <utility>

#include <pinwarden/own/pinned_registration.hpp>

pinwarden::PinnedRegistration taken(pinwarden::PinnedRegistration& registration) {
#if defined(PINWARDEN_FORBIDDEN)
    return registration;
#else
    return std::move(registration);
#endif
}
