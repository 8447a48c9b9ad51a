// SPDX-License-Identifier: Apache-2.0
#include <support/release_failure_log.hpp>

#include <mutex>
#include <utility>

namespace pinwarden::testing {

namespace {

std::mutex mutex;
std::vector<ReleaseFailureLog::Failure> failures;

void collect(const ReleaseFailure& failure) noexcept {
    const std::scoped_lock lock(mutex);
    failures.push_back(
        {std::string(failure.text), failure.address, failure.bytes, failure.code, failure.site.line()});
}

}  // namespace

ReleaseFailureLog::ReleaseFailureLog() : previous_(set_release_failure_handler(&collect)) {
    static_cast<void>(take());
}

ReleaseFailureLog::~ReleaseFailureLog() { set_release_failure_handler(previous_); }

std::vector<ReleaseFailureLog::Failure> ReleaseFailureLog::take() {
    const std::scoped_lock lock(mutex);
    return std::exchange(failures, {});
}

}  // namespace pinwarden::testing
