// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A stand-in for the CUDA runtime that behaves like it, records every call, and fails on demand.
///
/// It has devices, memory, registrations, streams that can be held, events and a last error for each thread.
/// What the real runtime would take silently and this library must never do is kept as a violation: an object
/// used while another device is current, memory that is still in use by queued work, a second release.
///
/// ```
/// RecordingRuntime runtime(2);                             // two devices; one RecordingRuntime at a time
/// runtime.fail("cudaHostAlloc", cudaErrorMemoryAllocation);
/// run_the_code_under_test(runtime.calls());
/// CHECK(runtime.violations().empty());
/// CHECK(runtime.outstanding().empty());
/// ```

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cuda/runtime_calls.hpp"

namespace pinwarden::testing {

/// Thread-safe. The table's functions act on the one that exists.
class RecordingRuntime {
public:
    /// One call that was made, in the order of the calls.
    struct Call {
        std::string name;
        int device = 0;             ///< that was current
        std::uintptr_t object = 0;  ///< the address, stream or event it was about; 0 for none
        std::size_t bytes = 0;
        unsigned flags = 0;
        cudaError_t answer = cudaSuccess;
    };

    explicit RecordingRuntime(int devices = 1);
    RecordingRuntime(const RecordingRuntime&) = delete;
    RecordingRuntime& operator=(const RecordingRuntime&) = delete;
    ~RecordingRuntime();

    [[nodiscard]] const cuda::detail::RuntimeCalls& calls() const noexcept { return table_; }

    /// The `nth` call of that name from now on, counted from one, answers `code` and does nothing.
    void fail(std::string_view name, cudaError_t code, std::size_t nth = 1);

    /// The `nth` call of any name from now on does.
    void fail_any(cudaError_t code, std::size_t nth);

    /// Every call from now on does.
    void fail_all(cudaError_t code);

    /// Clears these orders. @returns whether the last one was carried out.
    bool stop_failing();

    /// Whether cudaErrorNotReady is remembered as the last error: versions of the runtime differ.
    void remember_not_ready(bool remember);

    /// Host memory starts `offset` bytes behind a page from now on.
    void set_host_offset(std::size_t offset);

    /// Device memory beyond this is refused.
    void set_device_capacity(std::size_t bytes);

    /// An error that somebody else's call left behind on this thread.
    void leave_error(cudaError_t code);

    /// The last error of this thread, as somebody else would find it.
    [[nodiscard]] cudaError_t last_error() const;

    /// The current device of this thread.
    [[nodiscard]] int current_device() const;
    void choose_device(int device);

    /// Makes the work queued on a stream from now on stand still, until release().
    void hold(cudaStream_t stream);
    void release(cudaStream_t stream);

    [[nodiscard]] std::vector<Call> made() const;
    [[nodiscard]] std::vector<Call> made(std::string_view name) const;
    [[nodiscard]] std::size_t count(std::string_view name) const;
    void forget_calls();

    /// What was acquired and not released, each in words.
    [[nodiscard]] std::vector<std::string> outstanding() const;

    [[nodiscard]] std::vector<std::string> violations() const;

private:
    friend struct RecordingFunctions;

    struct HostMemory {
        std::size_t bytes;
        std::byte* storage;  // null for memory of somebody else
    };
    struct DeviceMemory {
        std::size_t bytes;
        int device;
    };
    struct StreamState {
        int device;
        bool is_held = false;
        std::deque<std::function<void()>> queue;
    };
    struct EventState {
        int device;
        std::shared_ptr<bool> reached;  // null before it is recorded
    };

    cudaError_t answer(Call call, const std::function<cudaError_t()>& act);
    [[nodiscard]] bool is_ordered_to_fail(const Call& call, cudaError_t& code);
    void remember(cudaError_t code);
    void violate(std::string text) { violations_.push_back(std::move(text)); }
    [[nodiscard]] int device_of_thread() const;
    void enqueue(StreamState& stream, std::function<void()> work);
    StreamState* stream_for(cudaStream_t stream, const char* call);
    [[nodiscard]] std::uintptr_t next_handle() { return handles_ += 16; }

    cuda::detail::RuntimeCalls table_;
    const int devices_;
    mutable std::recursive_mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<Call> made_;
    std::vector<std::string> violations_;
    std::map<std::thread::id, int> current_;
    std::map<std::thread::id, cudaError_t> last_error_;
    std::map<std::uintptr_t, HostMemory> host_;
    std::map<std::uintptr_t, std::size_t> registered_;
    std::map<std::uintptr_t, DeviceMemory> device_;
    std::map<std::uintptr_t, StreamState> streams_;
    std::map<std::uintptr_t, EventState> events_;
    std::uintptr_t handles_ = 0x1000;
    std::size_t device_bytes_ = 0;
    std::size_t device_capacity_ = std::size_t{1} << 34;
    std::size_t host_offset_ = 0;
    bool remembers_not_ready_ = true;

    std::string fail_name_;    // empty for any
    std::size_t fail_in_ = 0;  // calls until the one that fails; 0 for none
    bool fails_all_ = false;
    bool has_failed_ = false;
    cudaError_t fail_code_ = cudaSuccess;
};

}  // namespace pinwarden::testing
