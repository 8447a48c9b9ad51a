// SPDX-License-Identifier: Apache-2.0
#include <accelerator/stream_id.hpp>

#include <atomic>

namespace pinwarden::detail {

std::uint64_t next_stream_id() noexcept {
    static constinit std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace pinwarden::detail
