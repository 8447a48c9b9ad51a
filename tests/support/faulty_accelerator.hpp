// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// An accelerator that fails when it is told to, and whose streams stand still when they are told to.
///
/// It decorates another accelerator, the CPU one unless told otherwise, and counts the calls that may fail.
///
/// ```
/// const auto accelerator = std::make_shared<FaultyAccelerator>();
/// accelerator->fail_call(3);                          // the third call that may fail throws
/// AcceleratorError
///
/// const auto hold = accelerator->hold();              // what is queued from here on stays in flight ...
/// engine.offload_states(...);
/// hold.open();                                        // ... until here, or until `hold` is destroyed
/// ```

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pinwarden/accelerator/accelerator.hpp>

namespace pinwarden::testing {

/// The calls of an accelerator and its streams that may fail, and are counted.
enum class AcceleratorCall : std::uint8_t {
    create_stream,
    allocate,
    copy_to_device,
    copy_to_host,
    launch,
    record
};

/// The name of the function: `copy_to_host` for example.
[[nodiscard]] std::string_view to_string(AcceleratorCall call) noexcept;

/// Keeps streams from starting the work that is queued on them after it was made. Move-only; opens at its
/// end.
class [[nodiscard]] StreamHold {
public:
    class Gate;

    explicit StreamHold(std::shared_ptr<Gate> gate) noexcept;
    StreamHold(StreamHold&&) noexcept = default;
    StreamHold& operator=(StreamHold&&) = delete;
    ~StreamHold();

    /// Lets the work go on. Does not wait for it. Idempotent.
    void open() const noexcept;

private:
    std::shared_ptr<Gate> gate_;
};

/// Forwards, counts, fails and holds on demand. Thread-safe. Streams may outlive it.
class FaultyAccelerator final : public Accelerator {
public:
    class Script;

    /// Decorates a CPU accelerator of unlimited capacity.
    FaultyAccelerator();

    /// Decorates `inner`, which must support Stream::launch if hold() is used.
    explicit FaultyAccelerator(AcceleratorPtr inner);
    ~FaultyAccelerator() override;

    /// The `nth` call that may fail from now on, counted from one and over all kinds, throws AcceleratorError
    /// and does nothing else; the calls after it work again. 0 clears the order.
    void fail_call(std::size_t nth);

    /// The same, counting the calls of one kind only. Replaces an earlier order of either form.
    void fail_call(AcceleratorCall kind, std::size_t nth);

    /// The `nth` function launched from now on, counted from one, throws AcceleratorError in its turn on the
    /// stream instead of running. 0 clears the order.
    void fail_work(std::size_t nth);

    /// Whether the order of fail_call() or fail_work() has been carried out since it was given: once it has
    /// not, every call of the operation under test has failed in its turn.
    [[nodiscard]] bool has_failed() const;

    /// The calls that may fail so far, failed ones included.
    [[nodiscard]] std::vector<AcceleratorCall> calls() const;

    /// How many they are, of all kinds or of one.
    [[nodiscard]] std::size_t call_count() const;
    [[nodiscard]] std::size_t call_count(AcceleratorCall kind) const;

    /// Makes every stream of this accelerator stand still behind what is queued on it now, those made while
    /// the hold lasts included. Declare it after what waits for the streams when destroyed, so that it opens
    /// first.
    [[nodiscard]] StreamHold hold();

    /// The same for the streams of one name.
    [[nodiscard]] StreamHold hold(std::string_view stream_name);

    [[nodiscard]] std::string_view name() const noexcept override;
    [[nodiscard]] StreamPtr create_stream(std::string name) override;
    [[nodiscard]] DeviceMemoryUsage memory() const noexcept override;

private:
    const AcceleratorPtr inner_;
    const std::shared_ptr<Script> script_;
};

}  // namespace pinwarden::testing
