// SPDX-License-Identifier: Apache-2.0
#include <support/faulty_accelerator.hpp>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include <pinwarden/accelerator/cpu_accelerator.hpp>

namespace pinwarden::testing {

std::string_view to_string(AcceleratorCall call) noexcept {
    switch (call) {
        case AcceleratorCall::create_stream:
            return "create_stream";
        case AcceleratorCall::allocate:
            return "allocate";
        case AcceleratorCall::copy_to_device:
            return "copy_to_device";
        case AcceleratorCall::copy_to_host:
            return "copy_to_host";
        case AcceleratorCall::launch:
            return "launch";
        case AcceleratorCall::record:
            return "record";
    }
    return "unknown";
}

class StreamHold::Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_open_; });
    }

    void open() noexcept {
        {
            const std::lock_guard lock(mutex_);
            is_open_ = true;
        }
        changed_.notify_all();
    }

    [[nodiscard]] bool is_open() const {
        const std::lock_guard lock(mutex_);
        return is_open_;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

StreamHold::StreamHold(std::shared_ptr<Gate> gate) noexcept : gate_(std::move(gate)) {}

StreamHold::~StreamHold() { open(); }

void StreamHold::open() const noexcept {
    if (gate_ != nullptr) gate_->open();
}

/// What the accelerator and its streams share: the orders, the record of calls, the streams and their holds.
class FaultyAccelerator::Script {
public:
    /// Counts one call, and throws if it is the one that was to fail.
    void count(AcceleratorCall call) {
        const std::lock_guard lock(mutex_);
        calls_.push_back(call);
        if (fail_in_ == 0 || (fail_kind_ && *fail_kind_ != call)) return;
        if (--fail_in_ > 0) return;
        has_failed_ = true;
        throw AcceleratorError(std::string(to_string(call)) + ": call " + std::to_string(calls_.size()) +
                               " of the accelerator fails because the test ordered it");
    }

    /// Counts one launched function, and answers whether it is the one that was to fail.
    [[nodiscard]] bool count_work() {
        const std::lock_guard lock(mutex_);
        if (fail_work_in_ == 0 || --fail_work_in_ > 0) return false;
        has_failed_ = true;
        return true;
    }

    void order_failure(std::optional<AcceleratorCall> kind, std::size_t nth) {
        const std::lock_guard lock(mutex_);
        fail_kind_ = kind;
        fail_in_ = nth;
        has_failed_ = false;
    }

    void order_work_failure(std::size_t nth) {
        const std::lock_guard lock(mutex_);
        fail_work_in_ = nth;
        has_failed_ = false;
    }

    [[nodiscard]] bool has_failed() const {
        const std::lock_guard lock(mutex_);
        return has_failed_;
    }

    [[nodiscard]] std::vector<AcceleratorCall> calls() const {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

    /// Remembers a stream and puts it behind the holds that are on now.
    void add(const StreamPtr& stream) {
        std::vector<std::shared_ptr<StreamHold::Gate>> gates;
        {
            const std::lock_guard lock(mutex_);
            std::erase_if(streams_, [](const auto& known) { return known.expired(); });
            std::erase_if(holds_, [](const Hold& hold) { return hold.gate->is_open(); });
            streams_.push_back(stream);
            for (const Hold& hold : holds_) {
                if (hold.concerns(*stream)) gates.push_back(hold.gate);
            }
        }
        for (const auto& gate : gates) put_behind(gate, *stream);
    }

    [[nodiscard]] std::shared_ptr<StreamHold::Gate> hold(std::optional<std::string> name) {
        auto gate = std::make_shared<StreamHold::Gate>();
        const Hold hold{gate, std::move(name)};
        std::vector<StreamPtr> streams;
        {
            const std::lock_guard lock(mutex_);
            holds_.push_back(hold);
            for (const auto& known : streams_) {
                if (StreamPtr stream = known.lock()) streams.push_back(std::move(stream));
            }
        }
        for (const StreamPtr& stream : streams) {
            if (hold.concerns(*stream)) put_behind(gate, *stream);
        }
        return gate;
    }

private:
    struct Hold {
        std::shared_ptr<StreamHold::Gate> gate;
        std::optional<std::string> name;

        [[nodiscard]] bool concerns(const Stream& stream) const { return !name || *name == stream.name(); }
    };

    static void put_behind(const std::shared_ptr<StreamHold::Gate>& gate, Stream& stream) {
        stream.launch([gate] { gate->pass(); });
    }

    mutable std::mutex mutex_;
    std::vector<AcceleratorCall> calls_;
    std::optional<AcceleratorCall> fail_kind_;
    std::size_t fail_in_ = 0;  // calls until the one that fails; 0 for none
    std::size_t fail_work_in_ = 0;
    bool has_failed_ = false;
    std::vector<std::weak_ptr<Stream>> streams_;
    std::vector<Hold> holds_;
};

namespace {

class FaultyStream final : public Stream {
public:
    FaultyStream(StreamPtr inner, std::shared_ptr<FaultyAccelerator::Script> script)
        : inner_(std::move(inner)), script_(std::move(script)) {}

    [[nodiscard]] std::uint64_t id() const noexcept override { return inner_->id(); }
    [[nodiscard]] std::string_view name() const noexcept override { return inner_->name(); }

    [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
        script_->count(AcceleratorCall::allocate);
        return inner_->allocate(bytes);
    }

    void deallocate(std::byte* device, std::size_t bytes) noexcept override {
        inner_->deallocate(device, bytes);
    }

    void copy_to_device(std::byte* device, const std::byte* host, std::size_t bytes) override {
        script_->count(AcceleratorCall::copy_to_device);
        inner_->copy_to_device(device, host, bytes);
    }

    void copy_to_host(std::byte* host, const std::byte* device, std::size_t bytes) override {
        script_->count(AcceleratorCall::copy_to_host);
        inner_->copy_to_host(host, device, bytes);
    }

    void launch(std::function<void()> work) override {
        script_->count(AcceleratorCall::launch);
        if (script_->count_work()) {
            work = [replaced = std::move(work)] {
                throw AcceleratorError("launched work fails because the test ordered it");
            };
        }
        inner_->launch(std::move(work));
    }

    [[nodiscard]] CompletionTokenPtr record() override {
        script_->count(AcceleratorCall::record);
        return inner_->record();
    }

    void synchronize() override { inner_->synchronize(); }

private:
    const StreamPtr inner_;
    const std::shared_ptr<FaultyAccelerator::Script> script_;
};

}  // namespace

FaultyAccelerator::FaultyAccelerator() : FaultyAccelerator(make_cpu_accelerator()) {}

FaultyAccelerator::FaultyAccelerator(AcceleratorPtr inner)
    : inner_(std::move(inner)), script_(std::make_shared<Script>()) {}

FaultyAccelerator::~FaultyAccelerator() = default;

void FaultyAccelerator::fail_call(std::size_t nth) { script_->order_failure(std::nullopt, nth); }

void FaultyAccelerator::fail_call(AcceleratorCall kind, std::size_t nth) {
    script_->order_failure(kind, nth);
}

void FaultyAccelerator::fail_work(std::size_t nth) { script_->order_work_failure(nth); }

bool FaultyAccelerator::has_failed() const { return script_->has_failed(); }

std::vector<AcceleratorCall> FaultyAccelerator::calls() const { return script_->calls(); }

std::size_t FaultyAccelerator::call_count() const { return script_->calls().size(); }

std::size_t FaultyAccelerator::call_count(AcceleratorCall kind) const {
    return static_cast<std::size_t>(std::ranges::count(script_->calls(), kind));
}

StreamHold FaultyAccelerator::hold() { return StreamHold(script_->hold(std::nullopt)); }

StreamHold FaultyAccelerator::hold(std::string_view stream_name) {
    return StreamHold(script_->hold(std::string(stream_name)));
}

std::string_view FaultyAccelerator::name() const noexcept { return inner_->name(); }

StreamPtr FaultyAccelerator::create_stream(std::string name) {
    script_->count(AcceleratorCall::create_stream);
    StreamPtr inner = inner_->create_stream(std::move(name));
    script_->add(inner);
    return std::make_shared<FaultyStream>(std::move(inner), script_);
}

DeviceMemoryUsage FaultyAccelerator::memory() const noexcept { return inner_->memory(); }

}  // namespace pinwarden::testing
