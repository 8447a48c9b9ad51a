// SPDX-License-Identifier: Apache-2.0
#include <stress/workload.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace pinwarden::testing {

namespace {

constexpr std::size_t streams_per_thread = 2;
constexpr std::size_t kept_per_thread = 4;

std::byte* bytes_of(gsl::span<std::uint32_t> words) { return reinterpret_cast<std::byte*>(words.data()); }

void check(Exchange& exchange, const HostData& data, const char* what) {
    data.memory.wait();
    if (!has_pattern(data.memory.span(), data.seed)) {
        exchange.fail(std::string("a buffer that was ") + what + " does not hold what was copied to it");
    }
}

// Failures of work are ordered ones here.
void settle(Stream& stream) {
    try {
        stream.synchronize();
    } catch (const AcceleratorError&) {
    }
}

}  // namespace

std::uint32_t pattern_word(std::uint32_t seed, std::size_t index) noexcept {
    return seed * 2654435761U + static_cast<std::uint32_t>(index);
}

void fill_pattern(gsl::span<std::uint32_t> words, std::uint32_t seed) noexcept {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = pattern_word(seed, i);
}

bool has_pattern(gsl::span<const std::uint32_t> words, std::uint32_t seed) noexcept {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] != pattern_word(seed, i)) return false;
    }
    return true;
}

Exchange::Exchange(AcceleratorPtr accelerator, std::vector<PinBackendPtr> backends, audit::ScopeRef scope)
    : accelerator_(std::move(accelerator)), backends_(std::move(backends)), scope_(std::move(scope)) {}

void Exchange::put(HostData data) {
    const std::lock_guard lock(mutex_);
    offered_.push_back(std::move(data));
}

std::optional<HostData> Exchange::take() {
    const std::lock_guard lock(mutex_);
    if (offered_.empty()) return std::nullopt;
    HostData data = std::move(offered_.front());
    offered_.pop_front();
    return data;
}

void Exchange::fail(std::string text) {
    const std::lock_guard lock(mutex_);
    if (failures_.size() < 10) failures_.push_back(std::move(text));
}

std::vector<std::string> Exchange::failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
}

Workload::Workload(Exchange& exchange, std::uint32_t seed)
    : exchange_(exchange), random_(seed), next_seed_(seed << 16) {
    while (streams_.size() < streams_per_thread) {
        try {
            streams_.push_back(exchange_.accelerator()->create_stream("stress"));
        } catch (const AcceleratorError&) {  // ordered: the next one works
        }
    }
}

void Workload::run(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) {
        try {
            step();
        } catch (const PinError&) {
            // Out of the lock limit, or ordered: what is in flight makes room once it has landed.
            for (const StreamPtr& stream : streams_) settle(*stream);
        } catch (const AcceleratorError&) {
        }
    }
    for (const HostData& data : on_host_) check(exchange_, data, "kept until the end");
    for (const StreamPtr& stream : streams_) settle(*stream);
}

void Workload::step() {
    switch (below(16)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return send();
        case 4:
        case 5:
        case 6:
            return fetch();
        case 7:
        case 8:
            return rearrange();
        case 9:
            return use_scratch();
        case 10:
            return use_registration();
        case 11:
            return drop_inside_work();
        case 12:
            return ask_the_audit();
        case 13:
            return delay_stream();
        case 14:
            return renew_stream();
        default:
            if (auto data = exchange_.take()) drop_or_keep(std::move(*data));
            return;
    }
}

PinOptions Workload::any_options() {
    constexpr Pinning choices[] = {Pinning::pinned, Pinning::pinned, Pinning::prefer_pinned,
                                   Pinning::pageable};
    return {.pinning = choices[below(4)],
            .backend = exchange_.backends()[below(exchange_.backends().size())],
            .scope = exchange_.scope(),
            .label = "stress"};
}

// To the device, and the host's side forgotten while the copy may still be running.
void Workload::send() {
    const std::uint32_t seed = next_seed_++;
    HostData host{PinnedBuffer<std::uint32_t>(any_size(), any_options()), seed};
    fill_pattern(host.memory.span(), seed);
    const StreamPtr stream = any_stream();
    DeviceData device{DeviceBuffer<std::uint32_t>(host.memory.size(), stream), stream, seed};
    copy(host.memory, device.memory, *stream);
    on_device_.push_back(std::move(device));
    if (on_device_.size() > kept_per_thread)
        on_device_.erase(on_device_.begin() + static_cast<std::ptrdiff_t>(below(kept_per_thread)));
    drop_or_keep(std::move(host));
}

// From the device, and sometimes forgotten before it has arrived.
void Workload::fetch() {
    if (on_device_.empty()) return;
    DeviceData& device = on_device_[below(on_device_.size())];
    HostData host{PinnedBuffer<std::uint32_t>(device.memory.size(), any_options()), device.seed};
    copy(device.memory, host.memory, *device.stream);
    if (below(2) == 0) check(exchange_, host, "fetched");
    drop_or_keep(std::move(host));
}

void Workload::drop_or_keep(HostData data) {
    switch (below(5)) {
        case 0:
            return;
        case 1:
            data.memory.reset();
            return;
        case 2:
            exchange_.put(std::move(data));
            return;
        default:
            break;
    }
    if (on_host_.size() < kept_per_thread) {
        on_host_.push_back(std::move(data));
        return;
    }
    HostData& kept = on_host_[below(on_host_.size())];
    if (below(2) == 0) check(exchange_, kept, "kept");
    kept = std::move(data);  // releases one buffer whose copy may be running, and takes another one
}

void Workload::rearrange() {
    if (on_host_.size() < 2) return;
    HostData& one = on_host_[below(on_host_.size())];
    HostData& other = on_host_[below(on_host_.size())];
    one.memory.swap(other.memory);
    std::swap(one.seed, other.seed);
    HostData moved = std::move(one);
    one = std::move(moved);
    check(exchange_, one, "swapped and moved");
}

// The handle's end may come on a stream's own thread.
void Workload::drop_inside_work() {
    if (on_host_.empty() || on_device_.empty()) return;
    auto host = std::make_shared<HostData>(std::move(on_host_.back()));
    on_host_.pop_back();
    auto device = std::make_shared<DeviceData>(std::move(on_device_.back()));
    on_device_.pop_back();
    // Not through `this`: a stream that drops itself may run its last work after this object is gone.
    device->stream->launch([&exchange = exchange_, host, device] {
        if (!has_pattern(device->memory.device_span(), device->seed)) {
            exchange.fail("device memory is not as it was sent");
        }
        check(exchange, *host, "checked by a stream's work");
    });
}

void Workload::use_scratch() {
    if (on_device_.empty()) return;
    const DeviceData& device = on_device_[below(on_device_.size())];
    if (scratch_.capacity() < device.memory.size()) {
        const std::size_t capacity = device.memory.size() + below(100);
        if (scratch_.capacity() != 0 && below(2) == 0) {
            scratch_.grow(capacity);  // its last copy may be running
        } else {
            scratch_ = PinnedScratch<std::uint32_t>(capacity, any_options());
        }
    }
    const auto words = scratch_.acquire(device.memory.size());
    fill_pattern(words, 0);  // nobody else may be using them
    device.stream->copy_to_host(bytes_of(words),
                                reinterpret_cast<const std::byte*>(device.memory.device_span().data()),
                                words.size_bytes());
    scratch_.record_use(*device.stream);
    if (below(2) == 0) return;
    scratch_.wait();
    if (!has_pattern(words, device.seed)) exchange_.fail("a scratch does not hold what was copied to it");
}

void Workload::use_registration() {
    const std::uint32_t seed = next_seed_++;
    std::vector<std::uint32_t> words(any_size());
    fill_pattern(words, seed);
    const StreamPtr stream = any_stream();
    DeviceData device{DeviceBuffer<std::uint32_t>(words.size(), stream), stream, seed};
    try {
        PinnedRegistration registration(gsl::span<std::uint32_t>(words), any_options());
        stream->copy_to_device(bytes_of(device.memory.device_span()), bytes_of(words),
                               words.size() * sizeof(std::uint32_t));
        registration.record_use(*stream);
        PinnedRegistration moved = std::move(registration);
        if (below(2) == 0) moved.reset();
    } catch (const OverlapError&) {
        return;  // a page that another thread's vector shares
    }
    std::ranges::fill(words, 0U);  // the registration has waited for its copy
    on_device_.push_back(std::move(device));
}

void Workload::ask_the_audit() {
    const auto& registry = audit::Registry::instance();
    registry.collect();
    for (const HostData& data : on_host_) {
        if (!data.memory.is_pinned()) continue;
        const auto record = registry.find(data.memory.data() + below(data.memory.size()));
        if (!record || record->address != data.memory.data() || record->state != audit::PinState::live ||
            record->label != "stress" || record->bytes != data.memory.size_bytes()) {
            exchange_.fail("the registry does not find a live pin");
        }
    }
    if (below(4) != 0) return;
    for (const audit::PinRecord& record : registry.snapshot()) {
        if (record.backend.empty() || record.bytes == 0) exchange_.fail("the registry shows half a record");
    }
}

void Workload::renew_stream() {
    if (below(4) != 0) return;
    StreamPtr& stream = any_stream();
    stream = exchange_.accelerator()->create_stream("renewed");
}

void Workload::delay_stream() {
    any_stream()->launch(
        [pause = std::chrono::microseconds(below(200))] { std::this_thread::sleep_for(pause); });
}

}  // namespace pinwarden::testing
