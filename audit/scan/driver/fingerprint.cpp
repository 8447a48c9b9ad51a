// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/fingerprint.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

namespace pinwarden::scan {

namespace {

/// FNV-1a: small, the same on every machine, and no secret depends on it.
class Hash {
public:
    void add(std::string_view text) {
        for (const char letter : text) mix(static_cast<unsigned char>(letter));
        mix(0);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    void mix(unsigned char byte) {
        constexpr std::uint64_t prime = 0x100000001b3;
        value_ = (value_ ^ byte) * prime;
    }

    std::uint64_t value_ = 0xcbf29ce484222325;
};

std::string without_spaces(std::string_view text) {
    std::string kept;
    for (const char letter : text) {
        if (letter != ' ' && letter != '\t' && letter != '\r') kept += letter;
    }
    return kept;
}

}  // namespace

std::vector<std::string> fingerprints_of(const std::vector<Finding>& findings, const LinesOf& lines_of) {
    std::vector<std::string> fingerprints;
    std::map<std::uint64_t, unsigned> seen;
    for (const Finding& finding : findings) {
        const std::vector<std::string>& lines = lines_of(finding.location.file);
        const unsigned line = finding.location.line;
        Hash hash;
        hash.add(finding.rule);
        hash.add(std::filesystem::path(finding.location.file).filename().string());
        hash.add(finding.function);
        hash.add(line == 0 || line > lines.size() ? std::string() : without_spaces(lines[line - 1]));
        fingerprints.push_back(fmt::format("{:016x}:{}", hash.value(), ++seen[hash.value()]));
    }
    return fingerprints;
}

}  // namespace pinwarden::scan
