// SPDX-License-Identifier: Apache-2.0

// Pin memory that somebody else owns.

#include <iostream>
#include <vector>

#include <pinwarden/pinwarden.hpp>

int main() {
    std::vector<double> samples(100'000);
    pinwarden::PinnedRegistration pinned(gsl::span<double>(samples), {.label = "samples"});

    std::cout << pinned.size_bytes() << " bytes asked for, " << pinned.locked_bytes() << " locked\n";

    // A second pin of the same pages would be undone by the first unpin, so it is refused.
    try {
        const pinwarden::PinnedRegistration again(gsl::span<double>(samples), {.label = "samples again"});
    } catch (const pinwarden::OverlapError& error) {
        std::cout << error.what() << '\n';
        return pinned.is_pinned() ? 0 : 1;
    }
    return 1;
}
