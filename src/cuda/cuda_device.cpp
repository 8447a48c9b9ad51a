// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_device.hpp"

#include "accelerator/stream_id.hpp"
#include "cuda/cuda_stream.hpp"
#include "cuda/cuda_token.hpp"

#include <pinwarden/core/error.hpp>
#include <pinwarden/cuda/availability.hpp>
#include <pinwarden/cuda/cuda_accelerator.hpp>
#include <pinwarden/cuda/native_stream.hpp>

#include <utility>

#include <fmt/format.h>

namespace pinwarden::cuda {
namespace detail {

CudaDevice::CudaDevice(const Runtime& runtime, int device)
    : runtime_(runtime), device_(device), name_(fmt::format("cuda:{}", device)) {
    std::size_t free = 0;
    std::size_t total = 0;
    const Outcome outcome = runtime_.call_on(device_, runtime_.calls().memory_info, &free, &total);
    if (!outcome.ok()) {
        throw AcceleratorError(fmt::format("{} cannot be used: {}", name_, runtime_.describe(outcome)));
    }
    blocks_ = std::make_shared<DeviceBlocks>(total);
    runtime_.offer_home(device_);
}

StreamPtr CudaDevice::create_stream(std::string name) {
    return std::make_shared<CudaStream>(runtime_, device_, blocks_, std::move(name));
}

DeviceMemoryUsage CudaDevice::memory() const noexcept {
    if (!runtime_.is_usable()) return {.capacity = blocks_->capacity()};  // in a child a mutex may be held for good
    blocks_->collect();
    return blocks_->usage();
}

CompletionTokenPtr record_native(const Runtime& runtime, void* stream, int device, std::string name) {
    auto identity = std::make_shared<StreamIdentity>(pinwarden::detail::next_stream_id(), std::move(name));
    return std::make_shared<CudaToken>(runtime, device, static_cast<cudaStream_t>(stream),
                                       std::move(identity));
}

namespace {

void require_device(int device) {
    const Availability& cuda = availability();
    if (device >= 0 && device < cuda.devices) return;
    if (cuda.devices == 0)
        throw UnavailableError(fmt::format("there is no device cuda:{}: {}", device, cuda.reason));
    throw UnavailableError(fmt::format(
        "there is no device cuda:{}: cudaGetDeviceCount counts {}, numbered from 0", device, cuda.devices));
}

}  // namespace
}  // namespace detail

AcceleratorPtr make_cuda_accelerator(int device) {
    detail::require_device(device);
    return std::make_shared<detail::CudaDevice>(detail::process_runtime(), device);
}

void* native_stream(const Stream& stream) {
    if (const auto* const known = dynamic_cast<const detail::CudaStream*>(&stream)) return known->native();
    throw AcceleratorError(
        fmt::format("native_stream(stream '{}'): it is none of a CUDA accelerator", stream.name()));
}

CompletionTokenPtr record_native(void* stream, int device, std::string name) {
    detail::require_device(device);
    return detail::record_native(detail::process_runtime(), stream, device, std::move(name));
}

}  // namespace pinwarden::cuda
