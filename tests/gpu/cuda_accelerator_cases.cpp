// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <future>
#include <memory>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/cuda.hpp>

#include <conformance/accelerator_contract.hpp>

namespace pinwarden::testing {

namespace {

using Gate = std::promise<void>;

// Called back by the stream, and makes no call of the runtime, which would be forbidden.
void CUDART_CB pass(void* gate) {
    const std::unique_ptr<std::shared_ptr<Gate>> mine(static_cast<std::shared_ptr<Gate>*>(gate));
    (*mine)->get_future().wait();
}

std::function<void()> hold(Stream& stream) {
    auto gate = std::make_shared<Gate>();
    auto* const passed_on = new std::shared_ptr<Gate>(gate);
    REQUIRE(cudaLaunchHostFunc(static_cast<cudaStream_t>(cuda::native_stream(stream)), pass, passed_on) ==
            cudaSuccess);
    return [gate] { gate->set_value(); };
}

AcceleratorPtr make() {
    if (cuda::availability().devices == 0) SKIP("no CUDA device: " << cuda::availability().reason);
    return cuda::make_cuda_accelerator(0);
}

const AcceleratorCaseEntry entry({.name = "cuda", .make = make, .hold = hold, .host = [] {
                                      return PinOptions{.backend = cuda::cuda_backend()};
                                  }});

}  // namespace

}  // namespace pinwarden::testing
