// SPDX-License-Identifier: Apache-2.0

// What the audit says of an owner that ends while somebody still holds one of its pins.

#include <chrono>
#include <iostream>
#include <vector>

#include <pinwarden/pinwarden.hpp>

namespace {

std::vector<pinwarden::PinnedBuffer<float>> forgotten;

void run_engine() {
    pinwarden::audit::Scope scope("engine");
    forgotten.push_back(pinwarden::PinnedBuffer<float>(1024, {.scope = scope, .label = "hp_params"}));
    // The engine is told to end, but a container outside it still holds its memory.
    if (auto report = scope.close(std::chrono::seconds(1)); !report.is_clean()) {
        throw pinwarden::audit::LeakError(std::move(report));
    }
}

}  // namespace

int main() {
    try {
        run_engine();
    } catch (const pinwarden::audit::LeakError& leak) {
        std::cout << leak.what() << '\n';
        return leak.report().records.at(0).label == "hp_params" ? 0 : 1;
    }
    return 1;
}
