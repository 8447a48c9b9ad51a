// SPDX-License-Identifier: Apache-2.0

// Test your own code against every pin that may be refused.

#include <cstddef>
#include <iostream>
#include <memory>
#include <vector>

#include <pinwarden/pinwarden.hpp>

namespace {

// The code under test: three buffers or none.
std::vector<pinwarden::PinnedBuffer<float>> make_buffers(const pinwarden::PinBackendPtr& backend) {
    std::vector<pinwarden::PinnedBuffer<float>> buffers;
    for (int i = 0; i < 3; ++i) buffers.emplace_back(256, pinwarden::PinOptions{.backend = backend});
    return buffers;
}

}  // namespace

int main() {
    for (std::size_t nth = 1;; ++nth) {
        const auto backend = std::make_shared<pinwarden::ScriptedBackend>();
        backend->fail_acquire(nth);
        try {
            const auto buffers = make_buffers(backend);
            std::cout << "succeeded once " << nth - 1 << " pins had been refused in turn\n";
            return nth == 4 && buffers.size() == 3 ? 0 : 1;
        } catch (const pinwarden::PinError&) {
            if (!backend->outstanding().empty()) return 1;  // a refused pin leaked the ones before it
        }
    }
}
