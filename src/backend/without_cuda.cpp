// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda_support.hpp"

namespace pinwarden::detail {

CudaAvailability cuda_availability() {
    return {nullptr, "this build of Pinwarden was configured without the CUDA Toolkit"};
}

DeviceRegistrar* device_registrar() noexcept { return nullptr; }

}  // namespace pinwarden::detail
