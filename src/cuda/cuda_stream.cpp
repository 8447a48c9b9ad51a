// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_stream.hpp"

#include "accelerator/stream_id.hpp"
#include "cuda/cuda_token.hpp"

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/release_failure.hpp>

#include <utility>

#include <fmt/format.h>

namespace pinwarden::cuda::detail {

CudaStream::CudaStream(const Runtime& runtime, int device, std::shared_ptr<DeviceBlocks> blocks,
                       std::string name)
    : runtime_(runtime),
      device_(device),
      blocks_(std::move(blocks)),
      identity_(std::make_shared<StreamIdentity>(pinwarden::detail::next_stream_id(), std::move(name))) {
    // Non-blocking: nothing that others do on the default stream is waited for.
    const Outcome outcome =
        runtime_.call_on(device_, runtime_.calls().stream_create, &stream_, unsigned{cudaStreamNonBlocking});
    if (!outcome.ok()) {
        throw AcceleratorError(fmt::format("create_stream(\"{}\") on cuda:{}: {}", identity_->name, device_,
                                           runtime_.describe(outcome)));
    }
}

CudaStream::~CudaStream() {
    if (!runtime_.is_usable()) return;  // in a child of fork() not even a mutex can be relied on
    if (const Outcome outcome = wait(); !outcome.ok())
        report(outcome, "work queued on it failed", nullptr, 0);
    blocks_->collect();
    const Outcome outcome = runtime_.call_on(device_, runtime_.calls().stream_destroy, stream_);
    if (!outcome.ok()) report(outcome, "it is left to the driver", nullptr, 0);
}

std::byte* CudaStream::allocate(std::size_t bytes) {
    require_usable("allocate()");
    if (bytes == 0) refuse("allocate(0 bytes)", "a block has at least one byte");
    blocks_->collect();  // so that the peak counts nothing that was given back before
    auto node = DeviceBlocks::make_node();
    void* memory = nullptr;
    const auto& entry = runtime_.calls().malloc_async;
    Outcome outcome = runtime_.call_on(device_, entry, &memory, bytes, stream_);
    if (outcome.code == cudaErrorMemoryAllocation) {
        // What this stream is about to give back is free as far as its user can tell.
        static_cast<void>(wait());
        blocks_->collect();
        outcome = runtime_.call_on(device_, entry, &memory, bytes, stream_);
    }
    if (!outcome.ok()) {
        const DeviceMemoryUsage usage = blocks_->usage();
        refuse(
            fmt::format("allocate({})", format_bytes(bytes)),
            fmt::format("{}; this accelerator uses {} in {} blocks, the device has {}; give back or offload "
                        "device memory",
                        runtime_.describe(outcome), format_bytes(usage.in_use), usage.allocations,
                        format_bytes(usage.capacity)));
    }
    auto* const address = static_cast<std::byte*>(memory);
    blocks_->add(std::move(node), address, bytes);
    return address;
}

void CudaStream::deallocate(std::byte* device, std::size_t bytes) noexcept {
    if (!runtime_.is_usable()) return;
    auto node = blocks_->withdraw(device, bytes);
    if (node.empty()) {
        report({},
               "no block of this device starts there with this size; it was given back before, or never "
               "allocated",
               device, bytes);
        return;
    }
    const Outcome freed =
        runtime_.call_on(device_, runtime_.calls().free_async, static_cast<void*>(device), stream_);
    if (freed.unloading()) return;
    if (freed.ok()) {
        DeviceBlocks::Block& block = node.mapped();
        block.stream = id();
        // Without an event the block counts until the stream is waited for.
        Outcome failure;
        block.freed = DeviceEvent::record(runtime_, device_, stream_, failure);
    } else {
        report(freed, "the block stays allocated", device, bytes);
    }
    blocks_->defer(std::move(node));
}

void CudaStream::copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) {
    copy("copy_to_device", device, host, bytes, device, cudaMemcpyHostToDevice);
}

void CudaStream::copy_to_host(std::byte* host, const std::byte* device, std::size_t bytes) {
    copy("copy_to_host", host, device, bytes, device, cudaMemcpyDeviceToHost);
}

void CudaStream::launch(std::function<void()>) {
    refuse("launch()",
           "the memory of a CUDA device is not addressable by the host; launch a kernel on native_stream(), "
           "or use "
           "the CPU accelerator");
}

CompletionTokenPtr CudaStream::record() {
    return std::make_shared<CudaToken>(runtime_, device_, stream_, identity_);
}

void CudaStream::synchronize() {
    if (const Outcome outcome = wait(); !outcome.ok()) {
        refuse("synchronize()",
               fmt::format("{}; this may come from any work queued before", runtime_.describe(outcome)));
    }
}

void CudaStream::require_usable(const char* call) const {
    // Before any mutex: a child of fork() may have inherited one that is held for good.
    if (!runtime_.is_usable()) refuse(call, runtime_.describe({cudaErrorCudartUnloading, "the gate"}));
}

Outcome CudaStream::wait() noexcept {
    if (!runtime_.is_usable()) return {cudaErrorCudartUnloading, runtime_.calls().stream_synchronize.name};
    const std::uint64_t number = blocks_->next_number();
    const Outcome outcome = runtime_.call_on(device_, runtime_.calls().stream_synchronize, stream_);
    if (outcome.ok()) blocks_->collect_without_event(id(), number);
    return outcome;
}

void CudaStream::copy(const char* call, std::byte* to, const std::byte* from, std::size_t bytes,
                      const std::byte* device, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    require_usable(call);
    const auto refuse_copy = [&](const std::string& why) {
        refuse(fmt::format("{}(to {}, from {}, {})", call, fmt::ptr(to), fmt::ptr(from), format_bytes(bytes)),
               why);
    };
    if (to == nullptr || from == nullptr) refuse_copy("an address is null");
    if (!blocks_->holds(device, bytes)) {
        refuse_copy(
            "the device side is not inside one block of this accelerator, or that block was given back");
    }
    const std::byte* const host = kind == cudaMemcpyHostToDevice ? from : to;
    for (std::size_t done = 0; done < bytes;) {
        const std::size_t part = runtime_.chunked_ranges().in_one_piece(host + done, bytes - done);
        const Outcome outcome =
            runtime_.call_on(device_, runtime_.calls().memcpy_async, static_cast<void*>(to + done),
                             static_cast<const void*>(from + done), part, kind, stream_);
        if (!outcome.ok()) {
            // Nothing may be left queued that the caller does not know of.
            if (done != 0 && !wait().ok()) {
                throw LostCopyError(fmt::format(
                    "{}({} bytes) on stream '{}' of cuda:{}: {}, and the {} bytes that were queued before could not be "
                    "waited for",
                    call, bytes, name(), device_, runtime_.describe(outcome), done));
            }
            refuse_copy(runtime_.describe(outcome));
        }
        done += part;
    }
}

void CudaStream::report(const Outcome& outcome, const char* meaning, const void* address,
                        std::size_t bytes) const noexcept {
    if (outcome.unloading()) return;
    ReleaseFailure failure{
        .text = meaning, .address = address, .bytes = bytes, .code = static_cast<int>(outcome.code)};
    std::string text;
    try {
        text = address == nullptr
                   ? fmt::format("stream '{}' of cuda:{} was destroyed: ", name(), device_)
                   : fmt::format("deallocate({}, {} bytes) on stream '{}' of cuda:{}: ", address, bytes,
                                 name(), device_);
        if (!outcome.ok()) text += runtime_.describe(outcome) + "; ";
        text += meaning;
        failure.text = text;
    } catch (...) {  // no memory for a better text
    }
    report_release_failure(failure);
}

void CudaStream::refuse(const std::string& call, const std::string& why) const {
    throw AcceleratorError(fmt::format("{} on stream '{}' of cuda:{}: {}", call, name(), device_, why));
}

}  // namespace pinwarden::cuda::detail
