// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/accelerator/cpu_accelerator.hpp>

#include <utility>

#include <accelerator/cpu_stream.hpp>
#include <accelerator/device_memory.hpp>

namespace pinwarden {

namespace {

class CpuAccelerator final : public Accelerator {
public:
    explicit CpuAccelerator(const CpuAcceleratorOptions& options)
        : memory_(std::make_shared<detail::DeviceMemory>(options.capacity_bytes)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "cpu"; }

    [[nodiscard]] StreamPtr create_stream(std::string name) override {
        return std::make_shared<detail::CpuStream>(memory_, std::move(name));
    }

    [[nodiscard]] DeviceMemoryUsage memory() const noexcept override { return memory_->usage(); }

private:
    const std::shared_ptr<detail::DeviceMemory> memory_;
};

}  // namespace

AcceleratorPtr make_cpu_accelerator(CpuAcceleratorOptions options) {
    return std::make_shared<CpuAccelerator>(options);
}

}  // namespace pinwarden
