// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>

#include "cuda/device_blocks.hpp"
#include "cuda/runtime.hpp"

namespace pinwarden::cuda::detail {

/// A device over a table of runtime calls; make_cuda_accelerator() gives those over the runtime's own.
class PINWARDEN_API CudaDevice final : public Accelerator {
public:
    /// @throws AcceleratorError if the device cannot be used.
    CudaDevice(const Runtime& runtime, int device);

    [[nodiscard]] std::string_view name() const noexcept override { return name_; }
    [[nodiscard]] StreamPtr create_stream(std::string name) override;
    [[nodiscard]] DeviceMemoryUsage memory() const noexcept override;

private:
    const Runtime& runtime_;
    const int device_;
    const std::string name_;
    std::shared_ptr<DeviceBlocks> blocks_;
};

/// See record_native().
[[nodiscard]] PINWARDEN_API CompletionTokenPtr record_native(const Runtime& runtime, void* stream, int device,
                                                             std::string name);

}  // namespace pinwarden::cuda::detail
