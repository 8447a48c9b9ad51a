// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/own/pinned_scratch.hpp>

#include <pinwarden/accelerator/accelerator.hpp>

#include <fmt/format.h>

namespace pinwarden {

CapacityError::CapacityError(std::size_t asked, std::size_t capacity, std::size_t element_bytes)
    : SizeError(fmt::format("a scratch of {} elements of {} bytes each was asked for {}; make it as large as its "
                            "largest use",
                            capacity, element_bytes, asked)) {}

void detail::refuse_reuse() {
    throw AcceleratorError(
        "a scratch cannot be used again: the runtime of its last copy is going away, because the process exits, and "
        "whether that copy is over cannot be known any more; finish with the device before main() returns");
}

}  // namespace pinwarden
