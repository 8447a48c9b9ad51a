// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <conformance/accelerator_contract.hpp>
#include <support/cuda/double_runtime.hpp>

#include "cuda/cuda_device.hpp"
#include "cuda/cuda_stream.hpp"

namespace pinwarden::testing {

namespace {

// Everything made over it may live until the program ends.
DoubleRuntime& cuda_double() {
    static DoubleRuntime& runtime = *new DoubleRuntime;
    return runtime;
}

std::function<void()> hold(Stream& stream) {
    const cudaStream_t native = dynamic_cast<cuda::detail::CudaStream&>(stream).native();
    cuda_double().driver.hold(native);
    return [native] { cuda_double().driver.release(native); };
}

const AcceleratorCaseEntry entry(
    {.name = "cuda over a stand-in for its runtime",
     .make = [] { return std::make_shared<cuda::detail::CudaDevice>(cuda_double().runtime, 0); },
     .hold = hold});

}  // namespace

}  // namespace pinwarden::testing
