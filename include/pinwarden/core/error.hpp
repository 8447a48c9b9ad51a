// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// The exceptions that Pinwarden throws.
///
/// Acquiring throws, releasing never does (see release_failure.hpp). Each text names the call, its arguments, the
/// exact answer and what to do about it; each type carries the same facts as data.

#include <cstddef>
#include <stdexcept>
#include <string>

#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// The base of all exceptions that Pinwarden throws on purpose.
class PINWARDEN_API Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A size that cannot be computed or does not fit what it is used for.
class PINWARDEN_API SizeError : public Error {
public:
    using Error::Error;
};

/// A range of memory that cannot be pinned because some of its pages are pinned already.
class PINWARDEN_API OverlapError : public Error {
public:
    using Error::Error;
};

/// A wrong value in the environment or in a configuration.
class PINWARDEN_API ConfigurationError : public Error {
public:
    using Error::Error;
};

/// Something that was asked for explicitly and that this build or this machine does not have.
class PINWARDEN_API UnavailableError : public Error {
public:
    using Error::Error;
};

/// What the kernel or the driver answered when a pin was refused, and what the machine looked like then.
struct PinRefusal {
    std::string backend;               ///< the backend that was asked, `native` for example
    std::string call;                  ///< the call that failed, with its arguments
    std::string answer;                ///< its answer: the symbolic name of the error and its text
    int code = 0;                      ///< the same as a number: an `errno`, or the driver's error code
    std::size_t bytes_asked = 0;       ///< bytes that the caller asked for
    std::size_t bytes_locked = 0;      ///< bytes that this process had locked already (`VmLck`)
    std::size_t lock_limit = 0;        ///< soft `RLIMIT_MEMLOCK` in bytes; SIZE_MAX means unlimited
    std::size_t bytes_available = 0;   ///< memory available to this process, its cgroup considered
    std::string advice;                ///< what to change
    std::byte* stuck_address = nullptr;  ///< memory that could not be unpinned again after a failure half-way, if any
    std::size_t stuck_bytes = 0;         ///< whole pages; the audit counts them as quarantined
};

/// A pin was refused. Nothing is held when it is thrown, and nothing is pinned but what is stuck.
class PINWARDEN_API PinError : public Error {
public:
    explicit PinError(PinRefusal refusal);

    [[nodiscard]] const PinRefusal& refusal() const noexcept { return refusal_; }

private:
    PinRefusal refusal_;
};

}  // namespace pinwarden
