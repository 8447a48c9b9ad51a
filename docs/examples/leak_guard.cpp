// SPDX-License-Identifier: Apache-2.0

// A part of a program that leaves a pin behind, and the guard that finds it.

#include <chrono>
#include <iostream>
#include <vector>

#include <pinwarden/pinwarden.hpp>

namespace {

std::vector<pinwarden::PinnedBuffer<float>> cache;

void code_under_test() { cache.push_back(pinwarden::PinnedBuffer<float>(1024, {.label = "activations"})); }

}  // namespace

int main() {
    const pinwarden::PinnedBuffer<float> fixture(16, {.label = "made before: nobody's leak"});

    pinwarden::audit::LeakGuard guard;
    code_under_test();
    const auto report = guard.close(std::chrono::seconds(1));
    if (!report.is_clean()) std::cout << to_text(report) << '\n';

    return report.records.size() == 1 && report.records[0].label == "activations" ? 0 : 1;
}
