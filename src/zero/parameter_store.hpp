// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The low-precision parameters of an engine: where they are, how a model gets to see all of them, and how
/// the results of a step get back to them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <gsl/span>

#include <pinwarden/accelerator/device_buffer.hpp>
#include <pinwarden/own/pinned_scratch.hpp>
#include <pinwarden/zero/communicator.hpp>
#include <pinwarden/zero/low_precision.hpp>

#include "zero/layout.hpp"
#include "zero/secondary_shards.hpp"
#include "zero/state_blocks.hpp"

namespace pinwarden::zero {

class ParameterStore {
public:
    struct Settings {
        StreamPtr stream;
        std::shared_ptr<const EngineLayout> layout;
        CommunicatorPtr ranks;
        LowPrecision format = LowPrecision::bf16;
        PinOptions staging{};  ///< of host memory that the parameters pass on their way
    };

    /// @param blocks all parameters of a group, or its shard where the stage divides parameters
    /// @throws as PinnedScratch's constructor does.
    ParameterStore(Settings settings, StateBlocks blocks, std::optional<SecondaryShards> secondary,
                   const Site& site);

    [[nodiscard]] StateBlocks& blocks() noexcept { return blocks_; }
    [[nodiscard]] const StateBlocks& blocks() const noexcept { return blocks_; }

    /// Copies all parameters to the host, widened. Divided ones are gathered segment by segment in device
    /// memory that is given back before it returns. All ranks call it together.
    void fetch(gsl::span<float> destination);

    /// Where a step on the device writes the new parameters of a sub-group.
    [[nodiscard]] gsl::span<std::byte> on_device(const SubGroup& sub_group);
    /// Where a step on the host writes them: all sub-groups' from here on, as `staged()` divides it.
    [[nodiscard]] gsl::span<std::byte> begin_staging();
    /// A sub-group's part of what begin_staging() returned.
    [[nodiscard]] gsl::span<std::byte> staged(gsl::span<std::byte> staging, const SubGroup& sub_group) const;

    /// A step has been taken, and its results are where the host or the device wrote them.
    void updated_on_host() noexcept { updated(Pending::upload); }
    void updated_on_device() noexcept { updated(Pending::gather); }

    /// Brings the results of the last step to where they belong, on all ranks; nothing to do if they are
    /// there. If it throws, it may be called again.
    void publish();

private:
    enum class Pending : std::uint8_t { nothing, upload, gather };

    void updated(Pending next) noexcept;
    void upload();
    void gather_all();
    void gather_segment(std::size_t group, std::size_t segment, gsl::span<std::byte> gathered) const;
    void refill_secondary(DeviceBuffer<std::byte>& buffer);
    [[nodiscard]] std::size_t own_offset(std::size_t group, std::size_t segment, std::size_t global) const;

    Settings settings_;
    StateBlocks blocks_;
    std::optional<SecondaryShards> secondary_;
    PinnedScratch<std::byte> staging_;
    Pending pending_ = Pending::nothing;
};

}  // namespace pinwarden::zero
