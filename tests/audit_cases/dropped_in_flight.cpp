// SPDX-License-Identifier: Apache-2.0
// Drops the host buffer while its copy to the device is queued: `old` as raw memory, which the copy then reads after
// it is freed; `new` as a handle, which keeps it. Built with AddressSanitizer.
#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/copy.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t count = 1000;
constexpr int mark = 42;

// The copy behind this starts well after the buffer is gone.
void keep_busy(pinwarden::Stream& stream) {
    stream.launch([] { std::this_thread::sleep_for(std::chrono::milliseconds(200)); });
}

// Not inlined: the report has to name it as the one that freed the memory.
[[gnu::noinline]] void drop_raw_memory(pinwarden::DeviceBuffer<int>& device, pinwarden::Stream& stream) {
    const auto host = std::make_unique<int[]>(count);
    std::fill_n(host.get(), count, mark);
    stream.copy_to_device(reinterpret_cast<std::byte*>(device.device_span().data()),
                          reinterpret_cast<const std::byte*>(host.get()), device.size_bytes());
}

void drop_handle(pinwarden::DeviceBuffer<int>& device, pinwarden::Stream& stream) {
    pinwarden::PinnedBuffer<int> host(count, {.backend = std::make_shared<pinwarden::ScriptedBackend>()});
    std::ranges::fill(host.span(), mark);
    pinwarden::copy(host, device, stream);
}

}  // namespace

int main(int argc, char** argv) {
    const bool old_way = argc == 2 && std::string_view(argv[1]) == "old";
    const auto stream = pinwarden::make_cpu_accelerator()->create_stream("copies");
    pinwarden::DeviceBuffer<int> device(count, stream);
    keep_busy(*stream);
    if (old_way) drop_raw_memory(device, *stream);
    if (!old_way) drop_handle(device, *stream);
    const std::size_t in_flight = pinwarden::audit::Registry::instance().counts().in_flight.pins;
    std::vector<int> received(count);
    stream->copy_to_host(reinterpret_cast<std::byte*>(received.data()),
                         reinterpret_cast<const std::byte*>(device.device_span().data()), device.size_bytes());
    stream->synchronize();
    const bool whole = std::ranges::all_of(received, [](int value) { return value == mark; });
    std::printf("%zu in flight, data %s\n", in_flight, whole ? "whole" : "torn");
    return whole && in_flight == (old_way ? 0U : 1U) ? 0 : 1;
}
