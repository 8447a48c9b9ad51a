// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/copy.hpp>

#include <fmt/format.h>

namespace pinwarden::detail {

void require_same_size(std::size_t source, std::size_t destination) {
    if (source == destination) return;
    throw SizeError(fmt::format("a copy of {} elements needs as many at its destination, which has {}", source,
                                destination));
}

void require_part(const PinnedHandle& host, const void* first, std::size_t bytes) {
    if (host.contains(first, bytes)) return;
    throw SizeError(fmt::format(
        "a copy of {} bytes at {} reaches outside the memory of the handle that it was given, which could not keep "
        "them until the copy ends; name a part of that handle's memory",
        bytes, first));
}

}  // namespace pinwarden::detail
