// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Symbol visibility and compiler annotations: the only macros that Pinwarden's public headers define.

/// Marks what a shared build of Pinwarden exports; everything else stays hidden.
#define PINWARDEN_API [[gnu::visibility("default")]]

/// Ties a view's lifetime to the object it was taken from, so that clang warns about a view of a temporary.
/// Other compilers have no such check and see nothing.
#if defined(__clang__)
#define PINWARDEN_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define PINWARDEN_LIFETIMEBOUND
#endif
