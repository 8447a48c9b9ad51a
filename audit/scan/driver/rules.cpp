// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/rules.hpp"

#include <algorithm>
#include <array>

namespace pinwarden::scan {

namespace {

constexpr std::array rules = {
    Rule{"allow-without-reason", "A comment allows a finding and does not say why.",
         "Nobody can tell later whether the exception is still right."},
    Rule{"conditional-release",
         "A release depends on a condition that does not follow from how the memory was pinned.",
         "Whenever the condition does not hold, the pin stays for the life of the process."},
    Rule{"copyable-owner", "A class releases a pin in its destructor and can be copied.",
         "Two copies release the same pin, and the second release hits memory of someone else."},
    Rule{"double-pin", "The same memory is pinned twice where pins do not nest.",
         "The first release unpins the memory under the other user."},
    Rule{"double-release", "A pin is released twice on a path, or by someone who did not make it.",
         "The second release hits memory that belongs to someone else by then."},
    Rule{"freed-while-registered", "Memory is freed, moved or unmapped before its pin is released.",
         "The registration outlives the memory, and the next owner of the address inherits it."},
    Rule{"leak", "A pin is lost on some way out of a function.",
         "Page-locked memory is taken from the whole machine until the process ends."},
    Rule{"leak-on-throw", "A pin is held by a raw pointer while something that may throw is called.",
         "An exception passes by the release, and the pin stays."},
    Rule{"no-releasing-destructor", "A class pins into a member that its destructor does not release.",
         "Every object leaves page-locked memory behind."},
    Rule{"overwritten-pin", "The only pointer to a pin is assigned over.",
         "The pin before cannot be released any more."},
    Rule{"raw-pin", "A pin call stands outside the folders that may pin.",
         "A pin that no handle owns is released by care alone."},
    Rule{"release-in-callback", "A release stands in a function that a stream calls.",
         "Such functions must not call the runtime, which may wait for itself or refuse."},
    Rule{"release-in-flight", "A pin is released while a copy of the memory may still be under way.",
         "The device reads or writes pages that are no longer pinned."},
    Rule{"reuse-in-flight", "A pinned block is written or handed on while a copy of it may be under way.",
         "The copy carries a mixture of old and new data."},
    Rule{"unchecked-pin", "The result of a pin is never looked at, and the memory is used.",
         "Where the pin fails, the program works on memory that is not pinned, or not there."},
    Rule{"wrong-argument", "The right release is given something else than the pin.",
         "The release fails, or releases something else, and the pin stays."},
    Rule{"wrong-release", "A pin is given back by another family's call.",
         "The other call does not unpin, and may corrupt its own allocator."},
};

}  // namespace

gsl::span<const Rule> all_rules() noexcept {
    return rules;
}

std::size_t rule_index(std::string_view id) noexcept {
    const auto place =
        std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.id == id; });
    return static_cast<std::size_t>(place - rules.begin());
}

std::string rule_names() {
    std::string names;
    for (const Rule& rule : rules) names += (names.empty() ? "" : ", ") + std::string(rule.id);
    return names;
}

}  // namespace pinwarden::scan
