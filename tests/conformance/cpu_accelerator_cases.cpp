// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <memory>

#include <pinwarden/accelerator/cpu_accelerator.hpp>

#include <conformance/accelerator_contract.hpp>
#include <support/faulty_accelerator.hpp>

namespace pinwarden::testing {

namespace {

std::function<void()> hold(Stream& stream) {
    auto gate = std::make_shared<std::promise<void>>();
    stream.launch([opened = gate->get_future().share()] { opened.wait(); });
    return [gate] { gate->set_value(); };
}

const AcceleratorCaseEntry cpu({"cpu", [] { return make_cpu_accelerator(); }, hold});

// A decorator must keep the contract of what it decorates, or tests that use it would show something else.
const AcceleratorCaseEntry faulty({"faulty", [] { return std::make_shared<FaultyAccelerator>(); }, hold});

}  // namespace

}  // namespace pinwarden::testing
