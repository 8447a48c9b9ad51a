// SPDX-License-Identifier: Apache-2.0

// A refused pin says what was asked, what stands in the way and what to change.

#include <cstddef>
#include <iostream>

#include <pinwarden/pinwarden.hpp>

int main() {
    const std::size_t too_much = std::size_t{1} << 46;
    try {
        const pinwarden::PinnedBuffer<std::byte> buffer(too_much, {.label = "huge"});
    } catch (const pinwarden::PinError& error) {
        std::cout << error.what() << '\n';
        const pinwarden::PinRefusal& refusal = error.refusal();
        return refusal.bytes_asked == too_much && !refusal.advice.empty() ? 0 : 1;
    }
    return 1;
}
