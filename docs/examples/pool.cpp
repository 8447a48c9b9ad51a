// SPDX-License-Identifier: Apache-2.0

// A pool keeps what handles give back, for the next handle of the same size.

#include <algorithm>
#include <iostream>
#include <memory>

#include <pinwarden/pinwarden.hpp>

int main() {
    const auto device = pinwarden::make_cpu_accelerator();
    const auto stream = device->create_stream("uploads");
    pinwarden::DeviceBuffer<int> on_device(1 << 14, stream);

    const auto pool = std::make_shared<pinwarden::PinnedPool>(pinwarden::native_backend(), 16 << 20);
    for (int step = 0; step < 100; ++step) {
        pinwarden::PinnedBuffer<int> staging(on_device.size(), {.backend = pool, .label = "staging"});
        std::ranges::fill(staging.span(), step);
        pinwarden::copy(staging, on_device, *stream);
        if (step % 4 == 3) stream->synchronize();
    }  // given back while the copy runs, and reused once it is over

    stream->synchronize();
    pinwarden::audit::Registry::instance().collect();
    const auto counts = pinwarden::audit::Registry::instance().counts();
    std::cout << pool->statistics().reused << " of 100 reused, " << counts.cached.pins << " cached\n";
    pool->trim();
    const auto left = pinwarden::audit::Registry::instance().counts();
    if (pool->statistics().reused < 50 || counts.live.pins != 0 || counts.cached.pins == 0) return 1;
    return left.locked_bytes() == 0 ? 0 : 1;
}
