// SPDX-License-Identifier: Apache-2.0
#include <support/release_failure_recorder.hpp>

#include <mutex>

namespace pinwarden::testing {

namespace {

std::mutex mutex;
std::vector<std::string> recorded;

void record(const ReleaseFailure& failure) noexcept {
    const std::lock_guard lock(mutex);
    recorded.emplace_back(failure.text);
}

}  // namespace

ReleaseFailureRecorder::ReleaseFailureRecorder() {
    {
        const std::lock_guard lock(mutex);
        recorded.clear();
    }
    replaced_ = set_release_failure_handler(record);
}

ReleaseFailureRecorder::~ReleaseFailureRecorder() { set_release_failure_handler(replaced_); }

std::vector<std::string> ReleaseFailureRecorder::texts() const {
    const std::lock_guard lock(mutex);
    return recorded;
}

}  // namespace pinwarden::testing
