// SPDX-License-Identifier: Apache-2.0
#include <support/cuda/recording_functions.hpp>

#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <pinwarden/core/bytes.hpp>

namespace pinwarden::testing {

namespace {

RecordingRuntime* the_runtime = nullptr;

}  // namespace

std::string object_text(const char* what, std::uintptr_t object) {
    char text[96];
    std::snprintf(text, sizeof text, "%s 0x%llx", what, static_cast<unsigned long long>(object));
    return text;
}

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
        return runtime().answer({.name = "cudaSetDevice", .object = static_cast<std::uintptr_t>(device)},
                                [&] {
                                    if (device < 0 || device >= runtime().devices_)
                                        return cudaErrorInvalidDevice;
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
                ::operator new (bytes + offset, std::align_val_t{page_bytes()}, std::nothrow));
            if (storage == nullptr) return cudaErrorMemoryAllocation;
            runtime().host_[handle_number(storage + offset)] = {bytes, storage};
            *address = storage + offset;
            return cudaSuccess;
        });
    }

    static cudaError_t free_host(void* address) {
        return runtime().answer({.name = "cudaFreeHost", .object = handle_number(address)}, [&] {
            const auto found = runtime().host_.find(handle_number(address));
            if (found == runtime().host_.end()) {
                runtime().violate(
                    object_text("cudaFreeHost of what is not allocated:", handle_number(address)));
                return cudaErrorInvalidValue;
            }
            ::operator delete (found->second.storage, std::align_val_t{page_bytes()});
            runtime().host_.erase(found);
            return cudaSuccess;
        });
    }

    static cudaError_t host_register(void* address, std::size_t bytes, unsigned flags) {
        const Call call{
            .name = "cudaHostRegister", .object = handle_number(address), .bytes = bytes, .flags = flags};
        return runtime().answer(call, [&] {
            for (const auto& [start, length] : runtime().registered_) {
                if (handle_number(address) < start + length && start < handle_number(address) + bytes) {
                    return cudaErrorHostMemoryAlreadyRegistered;
                }
            }
            runtime().registered_[handle_number(address)] = bytes;
            return cudaSuccess;
        });
    }

    static cudaError_t host_unregister(void* address) {
        return runtime().answer({.name = "cudaHostUnregister", .object = handle_number(address)}, [&] {
            if (runtime().registered_.erase(handle_number(address)) != 0) return cudaSuccess;
            runtime().violate(
                object_text("cudaHostUnregister of what is not registered:", handle_number(address)));
            return cudaErrorHostMemoryNotRegistered;
        });
    }

    static cudaError_t malloc_async(void** address, std::size_t bytes, cudaStream_t stream) {
        const Call call{.name = "cudaMallocAsync", .object = handle_number(stream), .bytes = bytes};
        return runtime().answer(call, [&] {
            const R::StreamState* const state = runtime().stream_for(stream, "cudaMallocAsync");
            if (state == nullptr) return cudaErrorInvalidResourceHandle;
            if (bytes > runtime().device_capacity_ - runtime().device_bytes_)
                return cudaErrorMemoryAllocation;
            *address = ::operator new (bytes, std::align_val_t{256});
            runtime().device_[handle_number(*address)] = {bytes, state->device};
            runtime().device_bytes_ += bytes;
            return cudaSuccess;
        });
    }

    static cudaError_t free_async(void* address, cudaStream_t stream) {
        return runtime().answer({.name = "cudaFreeAsync", .object = handle_number(address)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaFreeAsync");
            const auto found = runtime().device_.find(handle_number(address));
            if (state == nullptr || found == runtime().device_.end()) {
                runtime().violate(
                    object_text("cudaFreeAsync of what is not allocated:", handle_number(address)));
                return cudaErrorInvalidValue;
            }
            const std::size_t bytes = found->second.bytes;
            runtime().device_.erase(found);
            runtime().enqueue(*state, [address, bytes] {
                ::operator delete (address, std::align_val_t{256});
                runtime().device_bytes_ -= bytes;
            });
            return cudaSuccess;
        });
    }

    static cudaError_t memcpy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                    cudaStream_t stream) {
        const Call call{.name = "cudaMemcpyAsync",
                        .object = handle_number(stream),
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
        return runtime().answer({.name = "cudaStreamDestroy", .object = handle_number(stream)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaStreamDestroy");
            if (state == nullptr) return cudaErrorInvalidResourceHandle;
            if (!state->queue.empty()) runtime().violate("a stream was destroyed with work queued on it");
            runtime().streams_.erase(handle_number(stream));
            return cudaSuccess;
        });
    }

    static cudaError_t stream_synchronize(cudaStream_t stream) {
        return runtime().answer({.name = "cudaStreamSynchronize", .object = handle_number(stream)}, [&] {
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
        return runtime().answer({.name = "cudaEventRecord", .object = handle_number(event)}, [&] {
            R::StreamState* const state = runtime().stream_for(stream, "cudaEventRecord");
            const auto found = runtime().events_.find(handle_number(event));
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
        return runtime().answer({.name = "cudaEventQuery", .object = handle_number(event)}, [&] {
            const auto found = runtime().events_.find(handle_number(event));
            if (found == runtime().events_.end()) {
                runtime().violate("an event was queried that does not exist");
                return cudaErrorInvalidResourceHandle;
            }
            if (found->second.device != runtime().device_of_thread()) {
                runtime().violate("an event was queried with another device current");
            }
            return found->second.reached == nullptr || *found->second.reached ? cudaSuccess
                                                                              : cudaErrorNotReady;
        });
    }

    static cudaError_t event_destroy(cudaEvent_t event) {
        return runtime().answer({.name = "cudaEventDestroy", .object = handle_number(event)}, [&] {
            if (runtime().events_.erase(handle_number(event)) != 0) return cudaSuccess;
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

cuda::detail::RuntimeCalls recording_calls(RecordingRuntime& runtime) {
    using F = RecordingFunctions;
    the_runtime = &runtime;
    cuda::detail::RuntimeCalls table = cuda::detail::runtime_calls();
    // The names, and the texts of errors, stay the runtime's own.
    table.get_device_count.function = F::get_device_count;
    table.get_device.function = F::get_device;
    table.set_device.function = F::set_device;
    table.memory_info.function = F::memory_info;
    table.host_alloc.function = F::host_alloc;
    table.free_host.function = F::free_host;
    table.host_register.function = F::host_register;
    table.host_unregister.function = F::host_unregister;
    table.malloc_async.function = F::malloc_async;
    table.free_async.function = F::free_async;
    table.memcpy_async.function = F::memcpy_async;
    table.stream_create.function = F::stream_create;
    table.stream_destroy.function = F::stream_destroy;
    table.stream_synchronize.function = F::stream_synchronize;
    table.event_create.function = F::event_create;
    table.event_record.function = F::event_record;
    table.event_query.function = F::event_query;
    table.event_destroy.function = F::event_destroy;
    table.peek_at_last_error = F::peek_at_last_error;
    table.get_last_error = F::get_last_error;
    return table;
}

}  // namespace pinwarden::testing
