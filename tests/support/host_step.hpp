// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Random arrays of an optimizer on the host, their gradients on a device, and the step that they should
/// take.
///
/// ```
/// HostStep step(10'000, 1'500, 7);                  // elements, the largest sub-group, seed
/// const auto expected = step.stepped(terms);         // by a synchronous step
/// step.hand_over(super);
/// super.wait();
/// REQUIRE(step.arrays() == expected);
/// ```

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <pinwarden/accelerator/accelerator.hpp>
#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/superoffload/super_offload.hpp>

#include <support/faulty_accelerator.hpp>

namespace pinwarden::testing {

/// All that a step changes, as bits: a NaN equals itself, and zeros differ by their sign.
struct HostArrays {
    std::vector<std::uint32_t> hp;
    std::vector<std::uint32_t> exp_avg;
    std::vector<std::uint32_t> exp_avg_sq;
    std::vector<std::uint16_t> lp_params;

    friend bool operator==(const HostArrays&, const HostArrays&) = default;
};

class HostStep {
public:
    /// Sub-groups of random sizes up to `largest`, and none of elements among them.
    HostStep(std::size_t elements, std::size_t largest, std::uint32_t seed);

    /// Fills the arrays with random bits: numbers of any size, infinities and NaNs.
    void fill_with_bits();

    /// New random gradients, on the device.
    void make_gradients(zero::LowPrecision format);

    /// Calls async_step() for each sub-group. The step was begun by the caller.
    void hand_over(zero::SuperOffload& super);

    /// The same with gradients that are on the host, `addend`, or with their sums with those on the device;
    /// from the last sub-group to the first, as backward passes come by them.
    void hand_over_from_host(zero::SuperOffload& super, const std::vector<std::uint16_t>& addend, bool add);

    [[nodiscard]] const HostArrays& arrays() const noexcept { return arrays_; }
    [[nodiscard]] HostArrays& arrays() noexcept { return arrays_; }
    [[nodiscard]] std::size_t elements() const noexcept { return arrays_.hp.size(); }
    [[nodiscard]] std::size_t sub_groups() const noexcept { return ends_.size(); }
    [[nodiscard]] std::size_t largest_sub_group() const noexcept;
    [[nodiscard]] const std::vector<std::uint16_t>& gradients() const noexcept { return gradients_; }
    /// Pretends that the device has these, for stepped() alone.
    void expect_gradients(std::vector<std::uint16_t> gradients) { gradients_ = std::move(gradients); }
    [[nodiscard]] FaultyAccelerator& accelerator() noexcept { return *accelerator_; }

    /// What the arrays would be after a step of all elements at once, by the calling thread.
    [[nodiscard]] HostArrays stepped(const zero::StepTerms& terms) const;

private:
    [[nodiscard]] zero::SubGroup sub_group(HostArrays& arrays, std::size_t begin, std::size_t end) const;

    std::uint32_t seed_;
    HostArrays arrays_;
    std::vector<std::uint16_t> gradients_;
    std::vector<std::size_t> ends_;
    std::shared_ptr<FaultyAccelerator> accelerator_ = std::make_shared<FaultyAccelerator>();
    StreamPtr stream_ = accelerator_->create_stream("gradients");
    DeviceBuffer<std::byte> device_gradients_;
};

}  // namespace pinwarden::testing
