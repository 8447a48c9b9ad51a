// SPDX-License-Identifier: Apache-2.0
// Random sequences of operations on handles, a pool, uses on queues and the registry, checked after each of them
// against a model that knows nothing but what the documentation says.
#include <fuzz/pin_model.hpp>

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    pinwarden::testing::PinModel model;
    for (std::size_t i = 0; i + 2 < size && i < 3 * 200; i += 3) {
        model.step(data[i], data[i + 1], data[i + 2]);
        model.check();
    }
    model.end();
    return 0;
}
