// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/copy.hpp>

#include <fmt/format.h>

namespace pinwarden::detail {

void require_same_size(std::size_t source, std::size_t destination) {
    if (source == destination) return;
    throw SizeError(fmt::format("a copy of {} elements needs as many at its destination, which has {}", source,
                                destination));
}

}  // namespace pinwarden::detail
