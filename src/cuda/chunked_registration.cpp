// SPDX-License-Identifier: Apache-2.0
#include "cuda/chunked_registration.hpp"

#include "backend/refusal.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace pinwarden::cuda::detail {
namespace {

PageRange next_chunk(PageRange pages, std::size_t done) noexcept {
    return {pages.first + done, std::min(pages.length - done, ChunkedRegistration::chunk_bytes)};
}

}  // namespace

std::optional<ChunkedRegistration::Refusal> ChunkedRegistration::add(PageRange pages,
                                                                     PageRange not_inherited) const noexcept {
    ChunkedRanges::Ranges::node_type cuts;
    if (pages.length > chunk_bytes) {
        try {
            cuts = ChunkedRanges::make_node();
        } catch (...) {
            return Refusal{.range = pages,
                           .outcome = {cudaErrorMemoryAllocation, "operator new"},
                           .code = cudaErrorMemoryAllocation};
        }
    }
    if (!has_advised(not_inherited, MADV_DONTFORK)) return Refusal{.range = not_inherited, .code = errno};
    const int device = runtime_.home_device();
    for (std::size_t done = 0; done < pages.length;) {
        const PageRange chunk = next_chunk(pages, done);
        const Outcome outcome =
            runtime_.call_on(device, runtime_.calls().host_register, static_cast<void*>(chunk.first),
                             chunk.length, unsigned{cudaHostRegisterPortable});
        if (!outcome.ok()) {
            return roll_back({.range = chunk,
                              .outcome = outcome,
                              .code = static_cast<int>(outcome.code),
                              .earlier = {pages.first, done}},
                             not_inherited);
        }
        done += chunk.length;
    }
    if (!cuts.empty()) runtime_.chunked_ranges().add(std::move(cuts), pages);
    return std::nullopt;
}

ChunkedRegistration::Refusal ChunkedRegistration::roll_back(Refusal refusal,
                                                            PageRange not_inherited) const noexcept {
    refusal.undone = remove_chunks(refusal.earlier);
    // Pages that the device may still write to stay out of children.
    if (!refusal.is_stuck()) static_cast<void>(has_advised(not_inherited, MADV_DOFORK));
    return refusal;
}

std::string ChunkedRegistration::call_text(const Refusal& refusal) const {
    const auto* const address = static_cast<const void*>(refusal.range.first);
    if (refusal.outcome.ok())
        return fmt::format("madvise({}, {}, MADV_DONTFORK)", address, refusal.range.length);
    return fmt::format("{}({}, {}, portable)", runtime_.calls().host_register.name, address,
                       refusal.range.length);
}

std::string ChunkedRegistration::answer_text(const Refusal& refusal) const {
    if (refusal.outcome.ok()) return pinwarden::detail::errno_text(refusal.code);
    std::string text = runtime_.describe_answer_to(runtime_.calls().host_register.name, refusal.outcome);
    if (refusal.is_stuck()) {
        text +=
            fmt::format("; and of the {} bytes at {} registered before it some could not be taken back: {}",
                        refusal.earlier.length, static_cast<const void*>(refusal.earlier.first),
                        runtime_.describe(refusal.undone));
    }
    return text;
}

UnpinAnswer ChunkedRegistration::remove(PageRange pages, PageRange not_inherited) const noexcept {
    // Taken out before the memory can be given to somebody else.
    if (pages.length > chunk_bytes) runtime_.chunked_ranges().remove(pages.first);
    const Outcome outcome = remove_chunks(pages);
    // If this is refused, children lack pages that they could have: nothing breaks here.
    if (outcome.ok()) static_cast<void>(has_advised(not_inherited, MADV_DOFORK));
    return unpin_answer(outcome);
}

Outcome ChunkedRegistration::remove_chunks(PageRange pages) const noexcept {
    const int device = runtime_.home_device();
    Outcome first_failure;
    for (std::size_t done = 0; done < pages.length;) {
        const PageRange chunk = next_chunk(pages, done);
        const Outcome outcome =
            runtime_.call_on(device, runtime_.calls().host_unregister, static_cast<void*>(chunk.first));
        // A failure outweighs an unloading: it means that somebody still holds the pages.
        if (!outcome.ok() && (first_failure.ok() || (first_failure.unloading() && !outcome.unloading()))) {
            first_failure = outcome;
        }
        done += chunk.length;
    }
    return first_failure;
}

bool ChunkedRegistration::has_advised(PageRange pages, int advice) const noexcept {
    return pages.length == 0 || advise_(pages.first, pages.length, advice) == 0;
}

}  // namespace pinwarden::cuda::detail
