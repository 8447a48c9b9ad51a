// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/bytes.hpp>

#include <pinwarden/core/error.hpp>

#include <array>
#include <limits>

#include <fmt/format.h>
#include <unistd.h>

namespace pinwarden {

std::size_t page_bytes() noexcept {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

std::size_t checked_bytes(std::size_t count, std::size_t element_bytes) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, element_bytes, &bytes)) {
        throw SizeError(fmt::format("{} elements of {} bytes each are more bytes than std::size_t can count ({}); "
                                    "check how the number of elements was computed",
                                    count, element_bytes, std::numeric_limits<std::size_t>::max()));
    }
    return bytes;
}

std::size_t round_up(std::size_t bytes, std::size_t granule) {
    std::size_t sum = 0;
    if (__builtin_add_overflow(bytes, granule - 1, &sum)) {
        throw SizeError(fmt::format("{} bytes cannot be rounded up to whole units of {} bytes: the result does not "
                                    "fit into std::size_t; check how the size was computed",
                                    bytes, granule));
    }
    return sum & ~(granule - 1);
}

std::string format_bytes(std::size_t bytes) {
    static constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    double scaled = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (scaled >= 1024 && unit + 1 < units.size()) {
        scaled /= 1024;
        ++unit;
    }
    return fmt::format("{} bytes ({:.1f} {})", bytes, scaled, units.at(unit));
}

}  // namespace pinwarden
