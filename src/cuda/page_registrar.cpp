// SPDX-License-Identifier: Apache-2.0
#include "cuda/page_registrar.hpp"

#include <pinwarden/core/release_failure.hpp>

#include <string>

#include <fmt/format.h>

namespace pinwarden::cuda::detail {

PageRegistrar::Outcome PageRegistrar::register_pages(PageRange pages, PageRange not_inherited) noexcept {
    try {
        if (availability_().devices == 0) {
            has_no_device_.store(true, std::memory_order_relaxed);
            return Outcome::refused;
        }
    } catch (...) {  // no memory to ask with, so nothing is registered
        return Outcome::refused;
    }
    if (!registration_.is_usable()) return Outcome::refused;  // before any mutex: a child may have it held for good
    if (const auto refusal = registration_.add(pages, not_inherited)) {
        note_refusal(*refusal, pages);
        return refusal->is_stuck() ? Outcome::stuck : Outcome::refused;
    }
    const std::scoped_lock lock(mutex_);
    ++status_.registered;
    return Outcome::registered;
}

UnpinAnswer PageRegistrar::unregister_pages(PageRange pages, PageRange not_inherited) noexcept {
    return registration_.remove(pages, not_inherited);
}

DeviceRegistrationStatus PageRegistrar::status() const {
    if (has_no_device_.load(std::memory_order_relaxed)) return {.last_refusal = availability_().reason};
    if (!registration_.is_usable()) return {.last_refusal = "the CUDA runtime must not be called any more"};
    const std::scoped_lock lock(mutex_);
    return status_;
}

void PageRegistrar::note_refusal(const ChunkedRegistration::Refusal& refusal, PageRange pages) noexcept {
    std::string text;
    try {
        text = fmt::format("{} answered {}", registration_.call_text(refusal),
                           registration_.answer_text(refusal));
    } catch (...) {  // no memory for the text; the count still tells
    }
    if (refusal.is_stuck()) {
        report_release_failure(
            {.text = text.empty() ? "a refused registration could not be taken back" : text,
             .address = pages.first,
             .bytes = pages.length,
             .code = static_cast<int>(refusal.undone.code)});
    }
    const std::scoped_lock lock(mutex_);
    status_.last_refusal.swap(text);
    ++status_.refused;
}

}  // namespace pinwarden::cuda::detail
