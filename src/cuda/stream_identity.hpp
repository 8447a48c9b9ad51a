// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace pinwarden::cuda::detail {

/// What events need to know of their stream, and outlives it.
struct StreamIdentity {
    const std::uint64_t id;
    const std::string name;
    std::atomic<bool> reported_query{false};  ///< a failed query was reported: once is enough for a stream
};

}  // namespace pinwarden::cuda::detail
