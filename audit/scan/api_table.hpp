// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// The calls the auditor knows, as data: what each one does with host memory, and which argument says so.
/// Rules ask the table, never for a name, so that a user's own pair of calls is as good as a built-in one.
namespace pinwarden::scan {

/// What a call does. The comment names the arguments that matter for the kind.
enum class ApiKind {
    pin_out,       ///< pins fresh memory and stores its address through `argument`
    pin_argument,  ///< pins the memory `argument` points to, which stays someone else's
    pin_return,    ///< pins, and returns the address or a handle; `memory_argument` is what the handle covers
    release,       ///< gives back a pin of its own family, named by `argument`
    free_memory,   ///< gives memory back to an allocator that never pins (`free`, `cudaFree`, `munmap`)
    move_memory,   ///< may free the old block named by `argument` and return another (`realloc`)
    allocate,      ///< returns ordinary memory
    device_view,   ///< stores the device's address of the host memory `memory_argument` through `argument`
    copy_async,  ///< queues a copy on `stream_argument`; `argument` and `memory_argument` are destination and
                 ///< source
    sync_stream,   ///< waits for the stream `argument`
    sync_event,    ///< waits for the event `argument`
    sync_all,      ///< waits for the device or context
    record_event,  ///< marks the end of what is queued on `stream_argument` with the event `argument`
    callback,      ///< hands the function `argument` to a stream, which calls it from a thread of the runtime
    query_error,   ///< asks for the last error, so that the result of the calls before is not ignored
    write,         ///< the host writes the memory named by `argument` before the call returns
    pin_everything  ///< pins without naming memory; only of interest where raw pins are forbidden
};

/// What a call answers when it worked.
enum class Success { zero, non_zero, non_null, not_minus_one, always };

/// Which side of a copy is host memory.
enum class CopyDirection { unknown, host_to_device, device_to_host, by_argument };

struct Api {
    std::string name;
    ApiKind kind = ApiKind::release;
    std::string family;
    int argument = 0;
    int memory_argument = -1;
    int size_argument = -1;
    int stream_argument = -1;
    int flag_argument = -1;
    std::uint64_t flag_mask = 0;  ///< the call pins only if one of these flags is set; 0: always
    Success success = Success::zero;
    CopyDirection direction = CopyDirection::unknown;
    int direction_argument = -1;
    bool by_range = false;          ///< pages may be pinned or given back piece by piece
    std::int64_t foreign_code = 0;  ///< the answer that means "someone else has registered this memory"
    bool wrapper = false;  ///< not an API itself, but a function of the scanned code that acts like one
};

/// True for the three kinds of call that pin.
bool is_pin(ApiKind kind);

class ApiTable {
public:
    /// The calls of CUDA's runtime and driver, HIP, Linux, verbs and io_uring.
    static ApiTable builtin();

    /// Adds a call; a later entry of the same name and kind replaces an earlier one.
    void add(Api api);

    /// The entries for a function, by its qualified name; versioned names (`cuMemAlloc_v2`) find the plain
    /// entry.
    const std::vector<Api>* find(std::string_view qualified_name) const;

    /// True if a word of this spelling may name a call that pins or releases: the cheap test before any
    /// analysis.
    bool mentions(std::string_view identifier) const;

    /// True if calls of the two families may stand in for each other (CUDA's runtime and its driver).
    static bool compatible(std::string_view left, std::string_view right);

    const std::unordered_map<std::string, std::vector<Api>>& entries() const { return entries_; }

private:
    std::unordered_map<std::string, std::vector<Api>> entries_;
    std::unordered_map<std::string, bool> words_;
};

/// @throws nlohmann::json::exception, std::invalid_argument naming the unknown word of a malformed entry.
void to_json(nlohmann::json& out, const Api& api);
void from_json(const nlohmann::json& in, Api& api);

}  // namespace pinwarden::scan
