// SPDX-License-Identifier: Apache-2.0
#include <support/cuda/recording_runtime.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <pinwarden/core/bytes.hpp>

namespace pinwarden::testing {

namespace {

RecordingRuntime* the_runtime = nullptr;

template <typename Handle>
std::uintptr_t number(Handle* handle) {
    return reinterpret_cast<std::uintptr_t>(handle);
}

std::string in_words(const char* what, std::uintptr_t object) {
    char text[96];
    std::snprintf(text, sizeof text, "%s 0x%llx", what, static_cast<unsigned long long>(object));
    return text;
}

}  // namespace

// The functions of the table. Each runs under the double's mutex.
struct RecordingFunctions {
    using R = RecordingRuntime;

    static R& runtime() { return *the_runtime; }

    static cudaError_t get_device_count(int* count) {
        return runtime().answer({.name = "cudaGetDeviceCount"}, [&] {
            *count = runtime().devices_;
            return runtime().devices_ == 0 ? cudaErrorNoDevice : cudaSuccess;
        });
    }

    static cudaError_t get_device(int* device) {
        return runtime().answer({.name = "cudaGetDevice"}, [&] {
            *device = runtime().device_of_thread();
            return cudaSuccess;
        });
    }

    static cudaError_t set_device(int device) {
        return runtime().answer({.name = "cudaSetDevice", .object = static_cast<std::uintptr_t>(device)}, [&] {
            if (device < 0 || device >= runtime().devices_) return cudaErrorInvalidDevice;
            runtime().current_[std::this_thread::get_id()] = device;
            return cudaSuccess;
        });
    }

    static cudaError_t memory_info(std::size_t* free, std::size_t* total) {
        return runtime().answer({.name = "cudaMemGetInfo"}, [&] {
            *free = runtime().device_capacity_ - runtime().device_bytes_;
            *total = runtime().device_capacity_;
            return cudaSuccess;
        });
    }

    static cudaError_t host_alloc(void** address, std::size_t bytes, unsigned flags) {
        return runtime().answer({.name = "cudaHostAlloc", .bytes = bytes, .flags = flags}, [&] {
            const std::size_t offset = runtime().host_offset_;
            auto* const storage = static_cast<std::byte*>(
                ::operator new(bytes + offset, std::align_val_t{page_bytes()}, std::nothrow));
            if (storage == nullptr) return cudaErrorMemoryAllocation;
            runtime().host_[number(storage + offset)] = {bytes, storage};
            *address = storage + offset;
            return cudaSuccess;
        });
    }

    static cudaError_t free_host(void* address) {
        return runtime().answer({.name = "cudaFreeHost", .object = number(address)}, [&] {
            const auto found = runtime().host_.find(number(address));
            if (found == runtime().host_.end()) {
                runtime().violate(in_words("cudaFreeHost of what is not allocated:", number(address)));
                return cudaErrorInvalidValue;
            }
            ::operator delete(found->second.storage, std::align_val_t{page_bytes()});
            runtime().host_.erase(found);
            return cudaSuccess;
        });
    }

    static cudaError_t host_register(void* address, std::size_t bytes, unsigned flags) {
        const Call call{.name = "cudaHostRegister", .object = number(address), .bytes = bytes, .flags = flags};
        return runtime().answer(call, [&] {
            for (const auto& [start, length] : runtime().registered_) {
                if (number(address) < start + length && start < number(address) + bytes) {
                    return cudaErrorHostMemoryAlreadyRegistered;
                }
            }
            runtime().registered_[number(address)] = bytes;
            return cudaSuccess;
        });
    }

    static cudaError_t host_unregister(void* address) {
        return runtime().answer({.name = "cudaHostUnregister", .object = number(address)}, [&] {
            if (runtime().registered_.erase(number(address)) != 0) return cudaSuccess;
            runtime().violate(in_words("cudaHostUnregister of what is not registered:", number(address)));
            return cudaErrorHostMemoryNotRegistered;
        });
    }

    static cudaError_t malloc_async(void** address, std::size_t bytes, cudaStream_t stream) {
        const Call call{.name = "cudaMallocAsync", .object = number(stream), .bytes = bytes};
        return runtime().answer(call, [&] {
            const R::StreamState* const state = runtime().stream_for(stream, "cudaMallocAsync");
            if (state == nullptr) return cudaErrorInvalidResourceHandle;
            if (bytes > runtime().device_capacity_ - runtime().device_bytes_) return cudaErrorMemoryAllocation;
            *address = ::operator new(bytes, std::align_val_t{256});
            runtime().device_[number(*address)] = {bytes, state->device};
            runtime().device_bytes_ += bytes;
            return cudaSuccess;
        });
    }

    static cudaError_t free_async(void* address, cudaStream_t stream) {
        return runtime().answer({.name = "cudaFreeAsync", .object = number(address)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaFreeAsync");
            const auto found = runtime().device_.find(number(address));
            if (state == nullptr || found == runtime().device_.end()) {
                runtime().violate(in_words("cudaFreeAsync of what is not allocated:", number(address)));
                return cudaErrorInvalidValue;
            }
            const std::size_t bytes = found->second.bytes;
            runtime().device_.erase(found);
            runtime().enqueue(*state, [address, bytes] {
                ::operator delete(address, std::align_val_t{256});
                runtime().device_bytes_ -= bytes;
            });
            return cudaSuccess;
        });
    }

    static cudaError_t memcpy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
        const Call call{.name = "cudaMemcpyAsync",
                        .object = number(stream),
                        .bytes = bytes,
                        .flags = static_cast<unsigned>(kind)};
        return runtime().answer(call, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaMemcpyAsync");
            if (state == nullptr) return cudaErrorInvalidResourceHandle;
            runtime().enqueue(*state, [=] { std::memcpy(to, from, bytes); });
            return cudaSuccess;
        });
    }

    static cudaError_t stream_create(cudaStream_t* stream, unsigned flags) {
        return runtime().answer({.name = "cudaStreamCreateWithFlags", .flags = flags}, [&] {
            const std::uintptr_t handle = runtime().next_handle();
            runtime().streams_[handle].device = runtime().device_of_thread();
            *stream = reinterpret_cast<cudaStream_t>(handle);
            return cudaSuccess;
        });
    }

    static cudaError_t stream_destroy(cudaStream_t stream) {
        return runtime().answer({.name = "cudaStreamDestroy", .object = number(stream)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaStreamDestroy");
            if (state == nullptr) return cudaErrorInvalidResourceHandle;
            if (!state->queue.empty()) runtime().violate("a stream was destroyed with work queued on it");
            runtime().streams_.erase(number(stream));
            return cudaSuccess;
        });
    }

    static cudaError_t stream_synchronize(cudaStream_t stream) {
        return runtime().answer({.name = "cudaStreamSynchronize", .object = number(stream)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaStreamSynchronize");
            if (state == nullptr) return cudaErrorInvalidResourceHandle;
            std::unique_lock lock(runtime().mutex_, std::adopt_lock);
            runtime().changed_.wait(lock, [&] { return state->queue.empty(); });
            lock.release();
            return cudaSuccess;
        });
    }

    static cudaError_t event_create(cudaEvent_t* event, unsigned flags) {
        return runtime().answer({.name = "cudaEventCreateWithFlags", .flags = flags}, [&] {
            const std::uintptr_t handle = runtime().next_handle();
            runtime().events_[handle] = {runtime().device_of_thread(), nullptr};
            *event = reinterpret_cast<cudaEvent_t>(handle);
            return cudaSuccess;
        });
    }

    static cudaError_t event_record(cudaEvent_t event, cudaStream_t stream) {
        return runtime().answer({.name = "cudaEventRecord", .object = number(event)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaEventRecord");
            const auto found = runtime().events_.find(number(event));
            if (state == nullptr || found == runtime().events_.end()) return cudaErrorInvalidResourceHandle;
            if (found->second.device != state->device) {
                runtime().violate("an event was recorded on a stream of another device");
                return cudaErrorInvalidResourceHandle;
            }
            auto reached = std::make_shared<bool>(false);
            found->second.reached = reached;
            runtime().enqueue(*state, [reached] { *reached = true; });
            return cudaSuccess;
        });
    }

    static cudaError_t event_query(cudaEvent_t event) {
        return runtime().answer({.name = "cudaEventQuery", .object = number(event)}, [&] {
            const auto found = runtime().events_.find(number(event));
            if (found == runtime().events_.end()) {
                runtime().violate("an event was queried that does not exist");
                return cudaErrorInvalidResourceHandle;
            }
            if (found->second.device != runtime().device_of_thread()) {
                runtime().violate("an event was queried with another device current");
            }
            return found->second.reached == nullptr || *found->second.reached ? cudaSuccess : cudaErrorNotReady;
        });
    }

    static cudaError_t event_destroy(cudaEvent_t event) {
        return runtime().answer({.name = "cudaEventDestroy", .object = number(event)}, [&] {
            if (runtime().events_.erase(number(event)) != 0) return cudaSuccess;
            runtime().violate("an event was destroyed that does not exist");
            return cudaErrorInvalidResourceHandle;
        });
    }

    static cudaError_t peek_at_last_error() { return runtime().last_error(); }

    static cudaError_t get_last_error() {
        const std::scoped_lock lock(runtime().mutex_);
        return std::exchange(runtime().last_error_[std::this_thread::get_id()], cudaSuccess);
    }

    using Call = R::Call;
};

RecordingRuntime::RecordingRuntime(int devices)
    : table_(cuda::detail::runtime_calls()), devices_(devices) {
    using F = RecordingFunctions;
    the_runtime = this;
    // The names, and the texts of errors, stay the runtime's own.
    table_.get_device_count.function = F::get_device_count;
    table_.get_device.function = F::get_device;
    table_.set_device.function = F::set_device;
    table_.memory_info.function = F::memory_info;
    table_.host_alloc.function = F::host_alloc;
    table_.free_host.function = F::free_host;
    table_.host_register.function = F::host_register;
    table_.host_unregister.function = F::host_unregister;
    table_.malloc_async.function = F::malloc_async;
    table_.free_async.function = F::free_async;
    table_.memcpy_async.function = F::memcpy_async;
    table_.stream_create.function = F::stream_create;
    table_.stream_destroy.function = F::stream_destroy;
    table_.stream_synchronize.function = F::stream_synchronize;
    table_.event_create.function = F::event_create;
    table_.event_record.function = F::event_record;
    table_.event_query.function = F::event_query;
    table_.event_destroy.function = F::event_destroy;
    table_.peek_at_last_error = F::peek_at_last_error;
    table_.get_last_error = F::get_last_error;
}

RecordingRuntime::~RecordingRuntime() {
    // What was never unpinned may be quarantined, and its addresses must then belong to nobody else; a list keeps it
    // within reach of a leak checker.
    static std::vector<std::byte*>& kept = *new std::vector<std::byte*>;
    for (const auto& [address, memory] : host_) kept.push_back(memory.storage);
    for (const auto& [address, memory] : device_) {
        ::operator delete(reinterpret_cast<void*>(address), std::align_val_t{256});
    }
    the_runtime = nullptr;
}

cudaError_t RecordingRuntime::answer(Call call, const std::function<cudaError_t()>& act) {
    const std::scoped_lock lock(mutex_);
    call.device = device_of_thread();
    if (!is_ordered_to_fail(call, call.answer)) call.answer = act();
    if (call.answer != cudaSuccess) remember(call.answer);
    made_.push_back(call);
    return call.answer;
}

bool RecordingRuntime::is_ordered_to_fail(const Call& call, cudaError_t& code) {
    if (fails_all_) {
        has_failed_ = true;
        code = fail_code_;
        return true;
    }
    if (fail_in_ == 0 || (!fail_name_.empty() && fail_name_ != call.name) || --fail_in_ > 0) return false;
    has_failed_ = true;
    code = fail_code_;
    return true;
}

void RecordingRuntime::remember(cudaError_t code) {
    if (code == cudaErrorNotReady && !remembers_not_ready_) return;
    last_error_[std::this_thread::get_id()] = code;
}

int RecordingRuntime::device_of_thread() const {
    const auto found = current_.find(std::this_thread::get_id());
    return found == current_.end() ? 0 : found->second;
}

void RecordingRuntime::enqueue(StreamState& stream, std::function<void()> work) {
    if (stream.is_held) {
        stream.queue.push_back(std::move(work));
    } else {
        work();
    }
}

RecordingRuntime::StreamState* RecordingRuntime::stream_for(cudaStream_t stream, const char* call) {
    const auto found = streams_.find(number(stream));
    if (found == streams_.end()) {
        violate(std::string(call) + " on a stream that does not exist");
        return nullptr;
    }
    if (found->second.device != device_of_thread()) violate(std::string(call) + " with another device current");
    return &found->second;
}

void RecordingRuntime::fail(std::string_view name, cudaError_t code, std::size_t nth) {
    const std::scoped_lock lock(mutex_);
    fail_name_ = name;
    fail_code_ = code;
    fail_in_ = nth;
    has_failed_ = false;
}

void RecordingRuntime::fail_any(cudaError_t code, std::size_t nth) { fail("", code, nth); }

void RecordingRuntime::fail_all(cudaError_t code) {
    fail("", code, 0);
    const std::scoped_lock lock(mutex_);
    fails_all_ = true;
}

bool RecordingRuntime::stop_failing() {
    const std::scoped_lock lock(mutex_);
    fail_in_ = 0;
    fails_all_ = false;
    return has_failed_;
}

void RecordingRuntime::remember_not_ready(bool remember) { remembers_not_ready_ = remember; }
void RecordingRuntime::set_host_offset(std::size_t offset) { host_offset_ = offset; }
void RecordingRuntime::set_device_capacity(std::size_t bytes) { device_capacity_ = bytes; }

void RecordingRuntime::leave_error(cudaError_t code) {
    const std::scoped_lock lock(mutex_);
    last_error_[std::this_thread::get_id()] = code;
}

cudaError_t RecordingRuntime::last_error() const {
    const std::scoped_lock lock(mutex_);
    const auto found = last_error_.find(std::this_thread::get_id());
    return found == last_error_.end() ? cudaSuccess : found->second;
}

int RecordingRuntime::current_device() const {
    const std::scoped_lock lock(mutex_);
    return device_of_thread();
}

void RecordingRuntime::choose_device(int device) {
    const std::scoped_lock lock(mutex_);
    current_[std::this_thread::get_id()] = device;
}

void RecordingRuntime::hold(cudaStream_t stream) {
    const std::scoped_lock lock(mutex_);
    streams_.at(number(stream)).is_held = true;
}

void RecordingRuntime::release(cudaStream_t stream) {
    {
        const std::scoped_lock lock(mutex_);
        StreamState& state = streams_.at(number(stream));
        state.is_held = false;
        while (!state.queue.empty()) {
            state.queue.front()();
            state.queue.pop_front();
        }
    }
    changed_.notify_all();
}

std::vector<RecordingRuntime::Call> RecordingRuntime::made() const {
    const std::scoped_lock lock(mutex_);
    return made_;
}

std::vector<RecordingRuntime::Call> RecordingRuntime::made(std::string_view name) const {
    std::vector<Call> found = made();
    std::erase_if(found, [&](const Call& call) { return call.name != name; });
    return found;
}

std::size_t RecordingRuntime::count(std::string_view name) const { return made(name).size(); }

void RecordingRuntime::forget_calls() {
    const std::scoped_lock lock(mutex_);
    made_.clear();
}

std::vector<std::string> RecordingRuntime::outstanding() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> left;
    for (const auto& [address, memory] : host_) left.push_back(in_words("host memory", address));
    for (const auto& [address, bytes] : registered_) left.push_back(in_words("registration", address));
    for (const auto& [address, memory] : device_) left.push_back(in_words("device memory", address));
    for (const auto& [handle, stream] : streams_) left.push_back(in_words("stream", handle));
    for (const auto& [handle, event] : events_) left.push_back(in_words("event", handle));
    return left;
}

std::vector<std::string> RecordingRuntime::violations() const {
    const std::scoped_lock lock(mutex_);
    return violations_;
}

}  // namespace pinwarden::testing
