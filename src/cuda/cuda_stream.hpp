// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/core/export.hpp>

#include "cuda/device_blocks.hpp"
#include "cuda/runtime.hpp"
#include "cuda/stream_identity.hpp"

namespace pinwarden::cuda::detail {

/// A stream of a CUDA accelerator.
class PINWARDEN_API CudaStream final : public Stream {
public:
    /// @throws AcceleratorError if the device gives no stream.
    CudaStream(const Runtime& runtime, int device, std::shared_ptr<DeviceBlocks> blocks, std::string name);
    ~CudaStream() override;

    [[nodiscard]] std::uint64_t id() const noexcept override { return identity_->id; }
    [[nodiscard]] std::string_view name() const noexcept override { return identity_->name; }
    [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
    void deallocate(std::byte* device, std::size_t bytes) noexcept override;
    void copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) override;
    void copy_to_host(std::byte* host, const std::byte* device, std::size_t bytes) override;
    void launch(std::function<void()> work) override;
    [[nodiscard]] CompletionTokenPtr record() override;
    void synchronize() override;

    [[nodiscard]] cudaStream_t native() const noexcept { return stream_; }

private:
    [[nodiscard]] Outcome wait() noexcept;
    void copy(const char* call, std::byte* to, const std::byte* from, std::size_t bytes,
              const std::byte* device, cudaMemcpyKind kind);
    void report(const Outcome& outcome, const char* meaning, const void* address,
                std::size_t bytes) const noexcept;
    void require_usable(const char* call) const;
    [[noreturn]] void refuse(const std::string& call, const std::string& why) const;

    const Runtime& runtime_;
    const int device_;
    const std::shared_ptr<DeviceBlocks> blocks_;
    const std::shared_ptr<StreamIdentity> identity_;
    cudaStream_t stream_ = nullptr;
};

}  // namespace pinwarden::cuda::detail
