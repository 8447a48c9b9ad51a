// SPDX-License-Identifier: Apache-2.0
#include <support/cuda/recording_runtime.hpp>

#include <new>
#include <utility>

#include <pinwarden/core/bytes.hpp>

#include <support/cuda/recording_functions.hpp>

namespace pinwarden::testing {

RecordingRuntime::RecordingRuntime(int devices) : table_(recording_calls(*this)), devices_(devices) {}

RecordingRuntime::~RecordingRuntime() {
    // What was never unpinned may be quarantined, and its addresses must then belong to nobody else; a list
    // keeps it within reach of a leak checker.
    static std::vector<std::byte*>& kept = *new std::vector<std::byte*>;
    for (const auto& [address, memory] : host_) kept.push_back(memory.storage);
    for (const auto& [address, memory] : device_) {
        ::operator delete (reinterpret_cast<void*>(address), std::align_val_t{256});
    }
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
    const auto found = streams_.find(handle_number(stream));
    if (found == streams_.end()) {
        violate(std::string(call) + " on a stream that does not exist");
        return nullptr;
    }
    if (found->second.device != device_of_thread())
        violate(std::string(call) + " with another device current");
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
    streams_.at(handle_number(stream)).is_held = true;
}

void RecordingRuntime::release(cudaStream_t stream) {
    {
        const std::scoped_lock lock(mutex_);
        StreamState& state = streams_.at(handle_number(stream));
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
    for (const auto& [address, memory] : host_) left.push_back(object_text("host memory", address));
    for (const auto& [address, bytes] : registered_) left.push_back(object_text("registration", address));
    for (const auto& [address, memory] : device_) left.push_back(object_text("device memory", address));
    for (const auto& [handle, stream] : streams_) left.push_back(object_text("stream", handle));
    for (const auto& [handle, event] : events_) left.push_back(object_text("event", handle));
    return left;
}

std::vector<std::string> RecordingRuntime::violations() const {
    const std::scoped_lock lock(mutex_);
    return violations_;
}

}  // namespace pinwarden::testing
