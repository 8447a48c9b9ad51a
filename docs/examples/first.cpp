// SPDX-License-Identifier: Apache-2.0

// Pin memory, use it, and prove that nothing stays pinned.

#include <algorithm>
#include <chrono>
#include <iostream>

#include <pinwarden/pinwarden.hpp>

int main() {
    pinwarden::audit::Scope scope("first");
    {
        pinwarden::PinnedBuffer<float> weights(1 << 16, {.scope = scope, .label = "weights"});
        std::ranges::fill(weights.span(), 0.5F);
        std::cout << to_text(scope.report()) << "\n\n";
    }
    const auto report = scope.close(std::chrono::seconds(5));
    std::cout << to_text(report) << '\n';
    return report.is_clean() ? 0 : 1;
}
