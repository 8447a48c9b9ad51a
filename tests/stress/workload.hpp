// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A random program over handles, device memory and streams, one per thread, which knows at each moment what
/// every piece of memory must hold.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <pinwarden/pinwarden.hpp>

namespace pinwarden::testing {

/// Words of a pattern that no other seed has.
[[nodiscard]] std::uint32_t pattern_word(std::uint32_t seed, std::size_t index) noexcept;
void fill_pattern(gsl::span<std::uint32_t> words, std::uint32_t seed) noexcept;
[[nodiscard]] bool has_pattern(gsl::span<const std::uint32_t> words, std::uint32_t seed) noexcept;

/// Device memory with a pattern, and the stream that orders its use.
struct DeviceData {
    DeviceBuffer<std::uint32_t> memory;
    StreamPtr stream;
    std::uint32_t seed = 0;
};

/// Host memory that holds a pattern once its recorded uses are complete.
struct HostData {
    PinnedBuffer<std::uint32_t> memory;
    std::uint32_t seed = 0;
};

/// What the threads of one run share. Thread-safe.
class Exchange {
public:
    Exchange(AcceleratorPtr accelerator, std::vector<PinBackendPtr> backends, audit::ScopeRef scope);

    [[nodiscard]] const AcceleratorPtr& accelerator() const noexcept { return accelerator_; }
    [[nodiscard]] const std::vector<PinBackendPtr>& backends() const noexcept { return backends_; }
    [[nodiscard]] const audit::ScopeRef& scope() const noexcept { return scope_; }

    /// Hands a buffer to whichever thread takes it.
    void put(HostData data);
    [[nodiscard]] std::optional<HostData> take();

    /// Notes that something was not as it must be; the first few texts are kept.
    void fail(std::string text);
    [[nodiscard]] std::vector<std::string> failures() const;

private:
    const AcceleratorPtr accelerator_;
    const std::vector<PinBackendPtr> backends_;
    const audit::ScopeRef scope_;
    mutable std::mutex mutex_;
    std::deque<HostData> offered_;
    std::vector<std::string> failures_;
};

/// The random program of one thread. Refusals of memory, pins and calls are part of it: it goes on after
/// them.
class Workload {
public:
    Workload(Exchange& exchange, std::uint32_t seed);

    void run(std::size_t steps);

private:
    void step();
    void send();
    void fetch();
    void drop_or_keep(HostData data);
    void rearrange();
    void drop_inside_work();
    void use_scratch();
    void use_registration();
    void ask_the_audit();
    void renew_stream();
    void delay_stream();

    [[nodiscard]] std::size_t below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
    }
    [[nodiscard]] StreamPtr& any_stream() { return streams_[below(streams_.size())]; }
    [[nodiscard]] PinOptions any_options();
    [[nodiscard]] std::size_t any_size() { return 1 + below(below(4) == 0 ? 8000 : 300); }

    Exchange& exchange_;
    std::mt19937 random_;
    std::uint32_t next_seed_;
    std::vector<StreamPtr> streams_;
    std::vector<DeviceData> on_device_;
    std::vector<HostData> on_host_;
    PinnedScratch<std::uint32_t> scratch_;
};

}  // namespace pinwarden::testing
