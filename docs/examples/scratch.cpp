// SPDX-License-Identifier: Apache-2.0

// One destination for many downloads: allocated once, nothing copied, at no time two blocks.

#include <iostream>
#include <string>

#include <pinwarden/pinwarden.hpp>

namespace {

float sum(gsl::span<const float> values) {
    float total = 0.0F;
    for (const float value : values) total += value;
    return total;
}

}  // namespace

int main() {
    // Whether to pin comes from a configuration; how comes from the environment.
    const bool pin_memory = true;
    pinwarden::PinnedScratch<float> gradients(
        4096, {.pinning = pin_memory ? pinwarden::Pinning::pinned : pinwarden::Pinning::pageable, .label = "lp_grads"});

    float total = 0.0F;
    for (const std::size_t count : {4096U, 1024U, 2048U}) {
        const gsl::span<float> destination = gradients.acquire(count);  // content unspecified
        for (float& value : destination) value = 1.0F;
        total += sum(destination);
    }
    try {
        (void)gradients.acquire(5000);
    } catch (const pinwarden::CapacityError& error) {
        std::cout << error.what() << '\n';
        return total == 7168.0F ? 0 : 1;
    }
    return 1;
}
