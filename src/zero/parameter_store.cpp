// SPDX-License-Identifier: Apache-2.0
#include "zero/parameter_store.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "zero/kernels.hpp"
#include "zero/recorded_use.hpp"

namespace pinwarden::zero {
namespace {

PinOptions labelled(PinOptions options, std::string_view label) {
    options.label = label;
    return options;
}

std::vector<std::size_t> bytes_of(const std::vector<std::size_t>& counts) {
    std::vector<std::size_t> bytes;
    bytes.reserve(counts.size());
    for (const std::size_t count : counts) bytes.push_back(count * lp_bytes);
    return bytes;
}

// Calls `function(group index, segment index, segment)` for all segments.
template <typename Function>
void for_each_segment(const EngineLayout& layout, Function function) {
    for (std::size_t group = 0; group < layout.groups.size(); ++group) {
        const auto& segments = layout.groups[group].segments;
        for (std::size_t index = 0; index < segments.size(); ++index) function(group, index, segments[index]);
    }
}

}  // namespace

ParameterStore::ParameterStore(Settings settings, StateBlocks blocks,
                               std::optional<SecondaryShards> secondary, const Site& site)
    : settings_(std::move(settings)),
      blocks_(std::move(blocks)),
      secondary_(std::move(secondary)),
      staging_(std::max(settings_.layout->largest_segment, settings_.layout->shard_elements) * lp_bytes,
               labelled(settings_.staging, "host_lp_params"), site) {}

// Where a global position of this rank's piece of a segment lies in the group's part, in bytes.
std::size_t ParameterStore::own_offset(std::size_t group, std::size_t segment, std::size_t global) const {
    const auto& layout = settings_.layout->groups[group];
    const auto& piece = layout.segments[segment];
    const std::size_t position = settings_.layout->plan.divides_parameters
                                     ? piece.shard_begin + (global - piece.mine_begin)
                                     : global - layout.begin;
    return position * lp_bytes;
}

gsl::span<std::byte> ParameterStore::on_device(const SubGroup& sub_group) {
    const std::size_t offset = own_offset(sub_group.group, sub_group.segment, sub_group.global_begin);
    return blocks_.part(sub_group.group).subspan(offset, sub_group.elements * lp_bytes);
}

gsl::span<std::byte> ParameterStore::begin_staging() {
    return staging_.acquire(settings_.layout->shard_elements * lp_bytes);
}

gsl::span<std::byte> ParameterStore::staged(gsl::span<std::byte> staging, const SubGroup& sub_group) const {
    const std::size_t begin = settings_.layout->groups[sub_group.group].shard_begin + sub_group.begin;
    return staging.subspan(begin * lp_bytes, sub_group.elements * lp_bytes);
}

void ParameterStore::updated(Pending next) noexcept {
    pending_ = next;
    if (secondary_) secondary_->invalidate();
}

void ParameterStore::publish() {
    if (pending_ == Pending::upload) {
        upload();
        pending_ = Pending::gather;
    }
    if (pending_ == Pending::gather) {
        gather_all();
        pending_ = Pending::nothing;
    }
}

void ParameterStore::upload() {
    const auto source = begin_staging();
    RecordedUse use(staging_, *settings_.stream);
    for_each_segment(*settings_.layout, [&](std::size_t group, std::size_t index, const Segment& segment) {
        if (segment.mine == 0) return;
        const std::size_t begin = settings_.layout->groups[group].shard_begin + segment.shard_begin;
        const auto values = source.subspan(begin * lp_bytes, segment.mine * lp_bytes);
        const auto destination =
            blocks_.part(group).subspan(own_offset(group, index, segment.mine_begin), values.size());
        if (blocks_.block_of(group).location() == StateLocation::host) {
            std::copy(values.begin(), values.end(), destination.begin());
        } else {
            settings_.stream->copy_to_device(destination.data(), values.data(), values.size());
        }
    });
    use.finish();
}

void ParameterStore::gather_all() {
    if (settings_.ranks->size() == 1 || settings_.layout->plan.divides_parameters) return;
    std::vector<gsl::span<std::byte>> parts;
    for (std::size_t group = 0; group < blocks_.part_count(); ++group) parts.push_back(blocks_.part(group));
    settings_.stream->launch([parts, layout = settings_.layout, ranks = settings_.ranks] {
        for_each_segment(*layout, [&](std::size_t group, std::size_t, const Segment& segment) {
            const std::size_t begin = (segment.begin - layout->groups[group].begin) * lp_bytes;
            ranks->all_gather(parts[group].subspan(begin, segment.elements * lp_bytes),
                              bytes_of(segment.counts));
        });
    });
    // Before anybody else of this rank may communicate.
    settings_.stream->synchronize();
}

void ParameterStore::gather_segment(std::size_t group, std::size_t index,
                                    gsl::span<std::byte> gathered) const {
    const auto& segment = settings_.layout->groups[group].segments[index];
    const std::size_t begin = (segment.mine_begin - segment.begin) * lp_bytes;
    blocks_.block_of(group).copy_to_device(blocks_.offset_of(group) + segment.shard_begin * lp_bytes,
                                           gathered.subspan(begin, segment.mine * lp_bytes));
    if (settings_.ranks->size() == 1) return;
    settings_.stream->launch([ranks = settings_.ranks, sizes = bytes_of(segment.counts), gathered] {
        ranks->all_gather(gathered, sizes);
    });
}

void ParameterStore::refill_secondary(DeviceBuffer<std::byte>& buffer) {
    for_each_segment(*settings_.layout, [&](std::size_t group, std::size_t index, const Segment& segment) {
        const auto gathered = buffer.device_span().first(segment.elements * lp_bytes);
        gather_segment(group, index, gathered);
        secondary_->keep(group, index, gathered);
    });
    settings_.stream->synchronize();
    secondary_->validate();
}

void ParameterStore::fetch(gsl::span<float> destination) {
    publish();
    const auto& layout = *settings_.layout;
    DeviceBuffer<std::byte> buffer;
    if (layout.plan.divides_parameters) {
        buffer = DeviceBuffer<std::byte>(layout.largest_segment * lp_bytes, settings_.stream);
        if (secondary_ && !secondary_->is_valid()) refill_secondary(buffer);
    }
    for_each_segment(layout, [&](std::size_t group, std::size_t index, const Segment& segment) {
        const std::size_t bytes = segment.elements * lp_bytes;
        gsl::span<std::byte> source;
        if (!layout.plan.divides_parameters) {
            source =
                blocks_.part(group).subspan((segment.begin - layout.groups[group].begin) * lp_bytes, bytes);
        } else {
            source = buffer.device_span().first(bytes);
            if (secondary_) {
                secondary_->gather(group, index, source, *settings_.stream);
            } else {
                gather_segment(group, index, source);
            }
        }
        const auto host = staging_.acquire(bytes);
        RecordedUse use(staging_, *settings_.stream);
        settings_.stream->copy_to_host(host.data(), source.data(), bytes);
        use.finish();
        settings_.stream->synchronize();
        widen_all(settings_.format, host, destination.subspan(segment.begin, segment.elements));
    });
}

}  // namespace pinwarden::zero
