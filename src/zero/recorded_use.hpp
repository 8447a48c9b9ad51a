// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Makes sure that work queued on a stream is known to the host memory it uses, whatever happens while
/// it is queued.

#include <utility>

#include <pinwarden/accelerator/accelerator.hpp>

namespace pinwarden::zero {

/// Records everything queued on `stream` so far as a use of `handle`; where that cannot be recorded, waits
/// for it. Either way nothing is in flight unseen afterwards.
/// @throws what work on the stream threw, if it had to be waited for.
template <typename Handle>
void record_or_wait(const Handle& handle, Stream& stream) {
    try {
        handle.record_use(stream.record());
    } catch (...) {
        stream.synchronize();
    }
}

/// Covers a sequence of calls that each queue a copy from or to `handle`: if one of them throws, those before
/// it are running already, and leaving the scope records them.
template <typename Handle>
class [[nodiscard]] RecordedUse {
public:
    RecordedUse(const Handle& handle, Stream& stream) noexcept : handle_(handle), stream_(stream) {}
    RecordedUse(const RecordedUse&) = delete;
    RecordedUse& operator=(const RecordedUse&) = delete;

    ~RecordedUse() {
        if (finished_) return;
        try {
            record_or_wait(handle_, stream_);
        } catch (...) {
            // It was waited for, and another exception is on its way.
        }
    }

    /// Records the use now.
    /// @throws as record_or_wait() does.
    void finish() {
        finished_ = true;
        record_or_wait(handle_, stream_);
    }

private:
    const Handle& handle_;
    Stream& stream_;
    bool finished_ = false;
};

}  // namespace pinwarden::zero
