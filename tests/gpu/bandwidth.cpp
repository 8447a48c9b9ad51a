// SPDX-License-Identifier: Apache-2.0

/// @file
/// How fast a device copies to and from host memory that was pinned in each way, in GB/s (10^9 bytes a
/// second).
///
///     bandwidth [mebibytes] [copies]
///
/// Each way is measured by the best of several copies. `call` is the part of a copy's time that the caller
/// spends in queueing it: near 100 % means that the copy blocks.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <backend/native_pages.hpp>

#include <pinwarden/cuda.hpp>
#include <pinwarden/pinwarden.hpp>

namespace {

using namespace pinwarden;
using Clock = std::chrono::steady_clock;

constexpr int exit_skipped = 77;

struct Way {
    const char* name;
    PinOptions options;
};

struct Measured {
    double gigabytes_per_second = 0;
    double call_share = 0;
};

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

template <typename Copy>
Measured measure(std::size_t bytes, int copies, Stream& stream, Copy queue) {
    queue();  // the first copy finds everything cold
    stream.synchronize();
    double best = 1e9;
    double queueing = 0;
    for (int i = 0; i < copies; ++i) {
        const auto start = Clock::now();
        queue();
        const auto queued = Clock::now();
        stream.synchronize();
        const double whole = seconds(Clock::now() - start);
        if (whole < best) {
            best = whole;
            queueing = seconds(queued - start);
        }
    }
    return {static_cast<double>(bytes) / best / 1e9, queueing / best};
}

void run(const Way& way, std::size_t bytes, int copies, const StreamPtr& stream) {
    PinnedBuffer<std::byte> host(bytes, way.options);
    std::fill(host.span().begin(), host.span().end(), std::byte{1});
    DeviceBuffer<std::byte> device(bytes, stream);
    const Measured there = measure(bytes, copies, *stream, [&] { copy(host, device, *stream); });
    const Measured back = measure(bytes, copies, *stream, [&] { copy(device, host, *stream); });
    std::printf("%-15s %8s %8.2f %6.0f %%  %8.2f %6.0f %%\n", way.name,
                host.is_device_pinned() ? "yes" : "no", there.gigabytes_per_second, 100 * there.call_share,
                back.gigabytes_per_second, 100 * back.call_share);
}

int run_all(std::size_t bytes, int copies) {
    const auto stream = cuda::make_cuda_accelerator(0)->create_stream("bandwidth");
    const auto locked = std::make_shared<detail::NativePages>(detail::kernel_calls());
    const std::vector<Way> ways{
        {"pageable", {.pinning = Pinning::pageable}},
        {"locked only", {.backend = locked}},
        {"registered", {.backend = native_backend()}},
        {"cudaHostAlloc", {.backend = cuda::cuda_backend()}},
    };
    std::printf("copies of %zu MiB, best of %d\n\n", bytes >> 20, copies);
    std::printf("%-15s %8s %8s %8s  %8s %8s\n", "host memory", "DMA", "H2D GB/s", "call", "D2H GB/s", "call");
    for (const Way& way : ways) run(way, bytes, copies, stream);
    const auto status = device_registration_status();
    std::printf("\nregistrations: %zu done, %zu refused%s%s\n", status.registered, status.refused,
                status.refused == 0 ? "" : ": ", status.last_refusal.c_str());
    return status.refused == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    const long mebibytes = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 256;
    const long copies = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 20;
    if (mebibytes <= 0 || copies <= 0) {
        std::fprintf(stderr, "usage: %s [mebibytes] [copies], both at least 1\n", argv[0]);
        return 2;
    }
    if (cuda::availability().devices == 0) {
        std::printf("skipped, no CUDA device: %s\n", cuda::availability().reason.c_str());
        return exit_skipped;
    }
    try {
        return run_all(static_cast<std::size_t>(mebibytes) << 20, static_cast<int>(copies));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
