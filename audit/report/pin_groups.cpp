// SPDX-License-Identifier: Apache-2.0
#include "report/pin_groups.hpp"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/plain_text.hpp"

namespace pinwarden::audit {
namespace {

using Key = std::pair<PinIdentity, std::uint32_t>;

std::vector<PinGroup> groups(const StoredReport& report, bool by_line) {
    std::map<Key, PinGroup> found;
    for (const StoredPin& pin : report.pins) {
        const auto [place, is_new] = found.try_emplace(Key{identity_of(pin), by_line ? pin.line : 0});
        PinGroup& group = place->second;
        if (is_new) {
            group.identity = place->first.first;
            group.line = pin.line;
        }
        group.tally.pins += 1;
        group.tally.bytes += pin.bytes;
        group.tally.locked_bytes += pin.locked_bytes;
        group.pins.push_back(&pin);
    }
    std::vector<PinGroup> sorted;
    sorted.reserve(found.size());
    for (auto& [key, group] : found) sorted.push_back(std::move(group));
    return sorted;
}

}  // namespace

PinIdentity identity_of(const StoredPin& pin) {
    // As UTF-8, so that a pin is the same before and after it has been through a file.
    return {.file = valid_utf8(pin.file),
            .function = valid_utf8(pin.function),
            .label = valid_utf8(pin.label),
            .scope = valid_utf8(pin.scope),
            .state = pin.state};
}

std::string fingerprint(const PinIdentity& identity) {
    // FNV-1a of 64 bits (Fowler, Noll, Vo). Each part ends in a byte that UTF-8 never has.
    constexpr std::uint64_t offset_basis = 0xCBF2'9CE4'8422'2325;
    constexpr std::uint64_t prime = 0x0000'0100'0000'01B3;
    std::uint64_t hash = offset_basis;
    const auto add = [&hash](std::string_view part) {
        for (const char byte : part) hash = (hash ^ static_cast<unsigned char>(byte)) * prime;
        hash = (hash ^ 0xFFU) * prime;
    };
    add(to_string(identity.state));
    add(identity.file);
    add(identity.function);
    add(identity.label);
    add(identity.scope);
    return fmt::format("{:016x}", hash);
}

std::vector<PinGroup> group_by_identity(const StoredReport& report) { return groups(report, false); }
std::vector<PinGroup> group_by_line(const StoredReport& report) { return groups(report, true); }

}  // namespace pinwarden::audit
