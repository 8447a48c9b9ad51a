// SPDX-License-Identifier: Apache-2.0
#include <accelerator/cpu_stream.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/core/release_failure.hpp>

namespace pinwarden::detail {

namespace {

class CopyItem final : public WorkItem {
public:
    CopyItem(std::byte* to, const std::byte* from, std::size_t bytes) noexcept
        : to_(to), from_(from), bytes_(bytes) {}
    void run() override { std::memcpy(to_, from_, bytes_); }

private:
    std::byte* const to_;
    const std::byte* const from_;
    const std::size_t bytes_;
};

class LaunchItem final : public WorkItem {
public:
    explicit LaunchItem(std::function<void()> work) noexcept : work_(std::move(work)) {}
    void run() override { work_(); }

private:
    const std::function<void()> work_;
};

class CpuEvent final : public CompletionToken {
public:
    CpuEvent(std::shared_ptr<const StreamProgress> progress, std::uint64_t number) noexcept
        : progress_(std::move(progress)), number_(number) {}

    [[nodiscard]] bool is_complete() const noexcept override { return progress_->reached(number_); }
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const noexcept override {
        return progress_->wait_for(number_, timeout);
    }
    [[nodiscard]] std::uint64_t queue() const noexcept override { return progress_->id(); }
    [[nodiscard]] std::string queue_name() const override { return progress_->name(); }

private:
    const std::shared_ptr<const StreamProgress> progress_;
    const std::uint64_t number_;
};

}  // namespace

CpuStream::CpuStream(std::shared_ptr<DeviceMemory> memory, std::string name)
    : memory_(std::move(memory)), queue_(std::make_shared<WorkQueue>(std::move(name))), process_(::getpid()) {
    try {
        // The memory is held as well: the blocks that the queue gives back refer to it.
        worker_ = std::thread([queue = queue_, held = memory_] { queue->run(); });
    } catch (const std::system_error& error) {
        throw AcceleratorError(fmt::format(
            "create_stream(\"{}\"): the system gives no thread for it: {} ({}); use fewer streams, or raise "
            "the limit on threads (`ulimit -u`, or pids.max of the cgroup)",
            queue_->progress()->name(), error.what(), error.code().value()));
    }
}

CpuStream::~CpuStream() {
    if (::getpid() != process_) {
        worker_.detach();
        return;
    }
    queue_->close();
    // A worker cannot wait for itself, and two workers that drop each other's streams would wait in a circle.
    if (WorkQueue::is_worker()) {
        worker_.detach();
    } else {
        worker_.join();
    }
}

std::uint64_t CpuStream::id() const noexcept { return queue_->progress()->id(); }

std::string_view CpuStream::name() const noexcept { return queue_->progress()->name(); }

std::byte* CpuStream::allocate(std::size_t bytes) {
    require_own_process("allocate");
    if (bytes == 0) {
        throw AcceleratorError(
            fmt::format("allocate(0 bytes) on stream '{}': a block has at least one byte", name()));
    }
    // A worker that waited for the frees that are queued could be the one that has to run them.
    const bool may_wait = !WorkQueue::is_worker();
    if (std::byte* const block = memory_->try_allocate(bytes, may_wait)) return block;

    const DeviceMemoryUsage usage = memory_->usage();
    throw AcceleratorError(fmt::format(
        "allocate({}) on stream '{}': the device has not enough memory: {} in use by {} blocks, capacity {}, "
        "{} available on the host; give back or offload device memory, or make the accelerator with a larger "
        "capacity",
        format_bytes(bytes), name(), format_bytes(usage.in_use), usage.allocations,
        usage.capacity == unlimited_bytes ? "unlimited" : format_bytes(usage.capacity),
        format_bytes(available_bytes())));
}

void CpuStream::deallocate(std::byte* device, std::size_t bytes) noexcept {
    if (::getpid() != process_) return;
    std::unique_ptr<DeviceBlock> block = memory_->withdraw(device, bytes);
    if (block == nullptr) {
        char text[256];
        const auto written = fmt::format_to_n(
            text, sizeof text,
            "deallocate({}, {} bytes) on stream '{}': no block of this device starts there with this size; "
            "it was given back before, or never allocated",
            fmt::ptr(device), bytes, name());
        report_release_failure(
            {.text = {text, std::min(written.size, sizeof text)}, .address = device, .bytes = bytes});
        return;
    }
    queue_->push(std::move(block));
}

void CpuStream::copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) {
    queue_copy("copy_to_device", device, host, bytes, device);
}

void CpuStream::copy_to_host(std::byte* host, const std::byte* device, std::size_t bytes) {
    queue_copy("copy_to_host", host, device, bytes, device);
}

void CpuStream::launch(std::function<void()> work) {
    require_own_process("launch");
    if (work == nullptr)
        throw AcceleratorError(fmt::format("launch(null) on stream '{}': there is no work", name()));
    queue_->push(std::make_unique<LaunchItem>(std::move(work)));
}

CompletionTokenPtr CpuStream::record() {
    require_own_process("record");
    return std::make_shared<CpuEvent>(queue_->progress(), queue_->last());
}

void CpuStream::synchronize() {
    require_own_process("synchronize");
    if (queue_->is_own_worker()) {
        throw AcceleratorError(fmt::format(
            "synchronize() on stream '{}': called by work of that stream, which would wait for itself",
            name()));
    }
    queue_->progress()->wait(queue_->last());
    if (const std::exception_ptr failure = queue_->take_failure()) std::rethrow_exception(failure);
}

void CpuStream::require_own_process(std::string_view call) const {
    if (const pid_t here = ::getpid(); here != process_) {
        throw AcceleratorError(fmt::format(
            "{}() on stream '{}': the stream belongs to process {} and this is its fork {}, which has no "
            "worker for it; make an accelerator after fork()",
            call, name(), process_, here));
    }
}

void CpuStream::queue_copy(std::string_view call, std::byte* to, const std::byte* from, std::size_t bytes,
                           const std::byte* device) {
    require_own_process(call);
    if (bytes == 0) return;
    const auto refuse = [&](std::string_view why) {
        throw AcceleratorError(fmt::format("{}(to {}, from {}, {}) on stream '{}': {}", call, fmt::ptr(to),
                                           fmt::ptr(from), format_bytes(bytes), name(), why));
    };
    if (to == nullptr || from == nullptr) refuse("an address is null");
    if (!memory_->holds(device, bytes)) {
        refuse(
            "the device side is not inside one block of this device's memory, or that block was given back");
    }
    queue_->push(std::make_unique<CopyItem>(to, from, bytes));
}

}  // namespace pinwarden::detail
