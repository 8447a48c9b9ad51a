// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A stream of the CPU accelerator: a queue, its worker thread, and the device's memory.

#include <sys/types.h>

#include <memory>
#include <string>
#include <thread>

#include <pinwarden/accelerator/accelerator.hpp>

#include <accelerator/device_memory.hpp>
#include <accelerator/work_queue.hpp>

namespace pinwarden::detail {

class CpuStream final : public Stream {
public:
    /// @throws AcceleratorError if the system gives no thread.
    CpuStream(std::shared_ptr<DeviceMemory> memory, std::string name);
    ~CpuStream() override;

    [[nodiscard]] std::uint64_t id() const noexcept override;
    [[nodiscard]] std::string_view name() const noexcept override;
    [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
    void deallocate(std::byte* device, std::size_t bytes) noexcept override;
    void copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) override;
    void copy_to_host(std::byte* host, const std::byte* device, std::size_t bytes) override;
    void launch(std::function<void()> work) override;
    [[nodiscard]] CompletionTokenPtr record() override;
    void synchronize() override;

private:
    void require_own_process(std::string_view call) const;
    void queue_copy(std::string_view call, std::byte* to, const std::byte* from, std::size_t bytes,
                    const std::byte* device);

    const std::shared_ptr<DeviceMemory> memory_;
    const std::shared_ptr<WorkQueue> queue_;
    const pid_t process_;  // threads do not survive fork(): a child's copy of this object has no worker
    std::thread worker_;
};

}  // namespace pinwarden::detail
