// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/offloadable_state.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/copy.hpp>

namespace pinwarden::zero {
namespace {

// Staging memory of one call: nobody's pin, and no backend to ask.
PinnedBuffer<std::byte> staging_of(std::size_t bytes) {
    return PinnedBuffer<std::byte>(bytes, {.pinning = Pinning::pageable, .label = "staging"});
}

void fill_with_zeros(DeviceBuffer<std::byte>& device, Stream& stream) {
    if (device.empty()) return;
    auto zeros = staging_of(device.size());
    std::fill_n(zeros.data(), zeros.size(), std::byte{0});
    copy(zeros, device, stream);
}

}  // namespace

OffloadableState OffloadableState::on_device(std::size_t bytes, StreamPtr stream, std::string label) {
    OffloadableState state;
    state.device_ = DeviceBuffer<std::byte>(bytes, stream);
    state.stream_ = std::move(stream);
    state.label_ = std::move(label);
    state.bytes_ = bytes;
    return state;
}

OffloadableState OffloadableState::on_host(std::size_t bytes, StreamPtr stream, const PinOptions& options,
                                           const Site& site) {
    OffloadableState state;
    state.host_ = PinnedBuffer<std::byte>(bytes, options, site);
    state.stream_ = std::move(stream);
    state.label_ = std::string(options.label);
    state.bytes_ = bytes;
    state.home_ = StateLocation::host;
    state.location_ = StateLocation::host;
    return state;
}

OffloadableState OffloadableState::transient(std::size_t bytes, StreamPtr stream, std::string label) {
    auto state = on_device(bytes, std::move(stream), std::move(label));
    state.transient_ = true;
    fill_with_zeros(state.device_, *state.stream_);
    return state;
}

OffloadableState::OffloadableState(OffloadableState&& other) noexcept
    : stream_(std::move(other.stream_)),
      label_(std::exchange(other.label_, {})),
      bytes_(std::exchange(other.bytes_, 0)),
      home_(std::exchange(other.home_, StateLocation::device)),
      location_(std::exchange(other.location_, StateLocation::device)),
      transient_(std::exchange(other.transient_, false)),
      device_(std::move(other.device_)),
      host_(std::move(other.host_)) {}

OffloadableState& OffloadableState::operator=(OffloadableState&& other) noexcept {
    OffloadableState taken(std::move(other));
    std::swap(stream_, taken.stream_);
    label_.swap(taken.label_);
    std::swap(bytes_, taken.bytes_);
    std::swap(home_, taken.home_);
    std::swap(location_, taken.location_);
    std::swap(transient_, taken.transient_);
    device_.swap(taken.device_);
    host_.swap(taken.host_);
    return *this;
}

OffloadableState::Move OffloadableState::prepare_offload(PinOptions options, const Site& site) const {
    Move move;
    if (location_ == StateLocation::host) return move;
    move.destination_ = StateLocation::host;
    if (transient_) return move;
    options.label = label_;
    move.host_ = PinnedBuffer<std::byte>(bytes_, options, site);
    if (bytes_ != 0) copy(device_, move.host_, *stream_);
    return move;
}

OffloadableState::Move OffloadableState::prepare_reload() const {
    Move move;
    if (location_ == home_) return move;
    move.device_ = DeviceBuffer<std::byte>(bytes_, stream_);
    if (transient_) {
        fill_with_zeros(move.device_, *stream_);
    } else if (bytes_ != 0) {
        copy(host_, move.device_, *stream_);
    }
    move.destination_ = StateLocation::device;
    return move;
}

void OffloadableState::commit(Move move) noexcept {
    if (!move.destination_) return;
    location_ = *move.destination_;
    device_ = std::move(move.device_);
    host_ = std::move(move.host_);
}

gsl::span<std::byte> OffloadableState::device_bytes() { return device_.device_span(); }

gsl::span<std::byte> OffloadableState::host_bytes() {
    host_.wait();
    return host_.span();
}

void OffloadableState::write(gsl::span<const std::byte> source) {
    detail::require_same_size(source.size(), bytes_);
    if (bytes_ == 0) return;
    if (location_ == StateLocation::host) {
        host_.wait();
        std::copy(source.begin(), source.end(), host_.data());
        return;
    }
    auto staging = staging_of(bytes_);
    std::copy(source.begin(), source.end(), staging.data());
    copy(staging, device_, *stream_);
}

void OffloadableState::read(gsl::span<std::byte> destination) const {
    detail::require_same_size(bytes_, destination.size());
    if (bytes_ == 0) return;
    if (transient_ && location_ == StateLocation::host) {
        std::fill(destination.begin(), destination.end(), std::byte{0});
        return;
    }
    if (location_ == StateLocation::host) {
        host_.wait();
        std::copy_n(host_.data(), bytes_, destination.begin());
        return;
    }
    auto staging = staging_of(bytes_);
    copy(device_, staging, *stream_);
    stream_->synchronize();
    std::copy_n(staging.data(), bytes_, destination.begin());
}

void OffloadableState::require_part(std::size_t offset, std::size_t bytes) const {
    if (offset <= bytes_ && bytes <= bytes_ - offset) return;
    throw SizeError(fmt::format("block '{}' of {}: {} from offset {} are not all in it", label_,
                                format_bytes(bytes_), format_bytes(bytes), offset));
}

void OffloadableState::copy_to_device(std::size_t offset, gsl::span<std::byte> device) const {
    require_part(offset, device.size());
    if (device.empty()) return;
    if (location_ == StateLocation::host) {
        stream_->copy_to_device(device.data(), host_.data() + offset, device.size());
        detail::record_copy(host_, *stream_);
        return;
    }
    const auto source = device_.device_span().subspan(offset, device.size());
    stream_->launch([source, device] { std::copy(source.begin(), source.end(), device.begin()); });
}

void OffloadableState::copy_from_device(std::size_t offset, gsl::span<const std::byte> device) {
    require_part(offset, device.size());
    if (device.empty()) return;
    if (location_ == StateLocation::host) {
        stream_->copy_to_host(host_.data() + offset, device.data(), device.size());
        detail::record_copy(host_, *stream_);
        return;
    }
    const auto destination = device_.device_span().subspan(offset, device.size());
    stream_->launch([destination, device] { std::copy(device.begin(), device.end(), destination.begin()); });
}

}  // namespace pinwarden::zero
