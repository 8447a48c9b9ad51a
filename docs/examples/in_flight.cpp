// SPDX-License-Identifier: Apache-2.0

// A handle may be dropped while the device still copies from it.

#include <algorithm>
#include <iostream>
#include <vector>

#include <pinwarden/pinwarden.hpp>

int main() {
    const auto device = pinwarden::make_cpu_accelerator();
    const auto stream = device->create_stream("uploads");
    pinwarden::DeviceBuffer<int> on_device(1 << 20, stream);
    {
        pinwarden::PinnedBuffer<int> on_host(1 << 20, {.label = "upload"});
        std::ranges::fill(on_host.span(), 7);
        pinwarden::copy(on_host, on_device, *stream);
    }  // dropped: the memory is unpinned after the copy, not before

    const auto counts = pinwarden::audit::Registry::instance().counts();
    std::cout << counts.live.pins << " live, " << counts.in_flight.pins << " in flight\n";

    pinwarden::PinnedBuffer<int> back(on_device.size());
    pinwarden::copy(on_device, back, *stream);
    back.wait();  // from here on the host may read
    const bool whole = std::ranges::all_of(back.span(), [](int value) { return value == 7; });
    return whole && counts.live.pins == 0 ? 0 : 1;
}
