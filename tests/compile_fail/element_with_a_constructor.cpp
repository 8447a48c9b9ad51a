// SPDX-License-Identifier: Apache-2.0

// The device copies bytes and calls no constructor, so elements must be trivially copyable.
// expect gcc: template constraint failure for .*PinnedBuffer
// expect clang: constraints not satisfied for class template 'PinnedBuffer'

#include <string>

#include <pinwarden/own/pinned_buffer.hpp>

#if defined(PINWARDEN_FORBIDDEN)
using Element = std::string;
#else
using Element = char;
#endif

pinwarden::PinnedBuffer<Element> make() { return pinwarden::PinnedBuffer<Element>(8); }
