// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/error.hpp>

#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/process_memory.hpp>

#include <utility>

#include <fmt/format.h>

namespace pinwarden {
namespace {

std::string limit_text(std::size_t bytes) {
    return bytes == unlimited_bytes ? std::string("unlimited") : format_bytes(bytes);
}

std::string text_of(const PinRefusal& refusal) {
    return fmt::format(
        "the {} backend could not pin {}: {} answered {}; this process has locked {}, RLIMIT_MEMLOCK is {}, "
        "available memory is {}; {}",
        refusal.backend, format_bytes(refusal.bytes_asked), refusal.call, refusal.answer,
        format_bytes(refusal.bytes_locked), limit_text(refusal.lock_limit), limit_text(refusal.bytes_available),
        refusal.advice);
}

}  // namespace

PinError::PinError(PinRefusal refusal) : Error(text_of(refusal)), refusal_(std::move(refusal)) {}

}  // namespace pinwarden
