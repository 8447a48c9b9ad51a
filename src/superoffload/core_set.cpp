// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/superoffload/core_set.hpp>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <pinwarden/core/release_failure.hpp>

namespace pinwarden::zero {
namespace {

using Word = unsigned long;  // the unit of the kernel's masks
constexpr std::size_t word_bits = std::numeric_limits<Word>::digits;
constexpr std::size_t most_words = 1024 * 1024 / word_bits;

std::string answer_of(int code) {
    return fmt::format("{} (errno {})", std::generic_category().message(code), code);
}

cpu_set_t* as_cpu_set(std::vector<Word>& mask) { return reinterpret_cast<cpu_set_t*>(mask.data()); }

std::vector<Word> mask_of(const CoreSet& set) {
    std::vector<Word> mask(set.cores().back() / word_bits + 1);
    for (const std::size_t core : set.cores()) mask[core / word_bits] |= Word{1} << (core % word_bits);
    return mask;
}

// Returns 0 or the error's number.
int set_affinity(std::vector<Word>& mask) noexcept {
    return ::sched_setaffinity(0, mask.size() * sizeof(Word), as_cpu_set(mask)) == 0 ? 0 : errno;
}

}  // namespace

CoreSet::CoreSet(std::vector<std::size_t> cores) : cores_(std::move(cores)) {
    std::sort(cores_.begin(), cores_.end());
    cores_.erase(std::unique(cores_.begin(), cores_.end()), cores_.end());
}

CoreSet CoreSet::of_this_thread() {
    // The kernel refuses a mask that is smaller than its own, whose size it does not tell.
    std::vector<Word> mask(1024 / word_bits);
    while (::sched_getaffinity(0, mask.size() * sizeof(Word), as_cpu_set(mask)) != 0) {
        const int code = errno;
        if (code != EINVAL || mask.size() >= most_words)
            throw AffinityError(
                fmt::format("sched_getaffinity(0, {} bytes): {}; the cores of this thread cannot "
                            "be shared out; switch super_offload off",
                            mask.size() * sizeof(Word), answer_of(code)));
        mask.assign(mask.size() * 2, 0);
    }
    CoreSet set;
    for (std::size_t core = 0; core < mask.size() * word_bits; ++core) {
        if ((mask[core / word_bits] >> (core % word_bits) & 1U) != 0) set.cores_.push_back(core);
    }
    return set;
}

std::string to_string(const CoreSet& set) {
    if (set.empty()) return "none";
    std::string text;
    const auto cores = set.cores();
    for (std::size_t first = 0; first < cores.size();) {
        std::size_t last = first;
        while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cores[first]);
        if (last != first) text += fmt::format("-{}", cores[last]);
        first = last + 1;
    }
    return text;
}

CoreSplit split_cores(const CoreSet& allowed, double fraction) {
    if (!(fraction > 0.0 && fraction <= 1.0) || allowed.empty())
        throw SizeError(
            fmt::format("split_cores({} cores, {}): host Adam needs a share of more than 0 and at most "
                        "1 of at least one core",
                        allowed.size(), fraction));
    const auto all = allowed.cores();
    const auto asked = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(all.size())));
    const std::size_t most = fraction < 1.0 && all.size() > 1 ? all.size() - 1 : all.size();
    const std::size_t count = std::clamp(asked, std::size_t{1}, most);
    const auto middle = all.end() - static_cast<std::ptrdiff_t>(count);
    return {.adam = CoreSet(std::vector<std::size_t>(middle, all.end())),
            .rest = CoreSet(std::vector<std::size_t>(all.begin(), middle))};
}

ScopedAffinity::ScopedAffinity(const CoreSet& cores) {
    if (cores.empty()) return;
    std::vector<Word> before = mask_of(CoreSet::of_this_thread());
    std::vector<Word> mask = mask_of(cores);
    if (const int code = set_affinity(mask); code != 0)
        throw AffinityError(
            fmt::format("sched_setaffinity(0, cores {}): {}; allow these cores to the process, or "
                        "switch super_offload off",
                        to_string(cores), answer_of(code)));
    before_ = std::move(before);
}

ScopedAffinity::~ScopedAffinity() {
    if (before_.empty()) return;
    const int code = set_affinity(before_);
    if (code == 0) return;
    char text[160];
    const auto written =
        fmt::format_to_n(text, sizeof text,
                         "sched_setaffinity(0): errno {}; the thread stays on the cores that SuperOffload gave it",
                         code);
    report_release_failure(
        {.text = std::string_view(text, std::min(written.size, sizeof text)), .code = code});
}

}  // namespace pinwarden::zero
