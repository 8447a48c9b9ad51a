// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda_support.hpp"

#include "core/immortal.hpp"
#include "cuda/host_backend.hpp"
#include "cuda/page_registrar.hpp"

#include <pinwarden/core/error.hpp>
#include <pinwarden/cuda/availability.hpp>
#include <pinwarden/cuda/cuda_backend.hpp>

#include <fmt/format.h>

namespace pinwarden {
namespace {

PinBackendPtr process_backend() noexcept {
    static detail::Immortal<cuda::detail::HostBackend> instance(
        cuda::detail::process_runtime(), cuda::detail::ChunkedRegistration(cuda::detail::process_runtime()));
    return PinBackendPtr(PinBackendPtr(), &instance.get());  // shares nothing, so it costs no counting
}

}  // namespace

namespace cuda {

PinBackendPtr cuda_backend() {
    if (const Availability& answer = availability(); answer.devices == 0) {
        throw UnavailableError(fmt::format("there is no memory from the CUDA runtime: {}", answer.reason));
    }
    return process_backend();
}

}  // namespace cuda

namespace detail {

CudaAvailability cuda_availability() {
    const cuda::Availability& answer = cuda::availability();
    return {answer.devices == 0 ? nullptr : process_backend(), answer.reason};
}

DeviceRegistrar* device_registrar() noexcept {
    static Immortal<cuda::detail::PageRegistrar> registrar(
        cuda::detail::ChunkedRegistration(cuda::detail::process_runtime()),
        []() -> const cuda::Availability& { return cuda::availability(); });
    return &registrar.get();
}

}  // namespace detail
}  // namespace pinwarden
