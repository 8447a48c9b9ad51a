// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Sets of CPU cores, how they are shared out, and a thread's affinity that is given back.
///
/// ```
/// const auto split = zero::split_cores(zero::CoreSet::of_this_thread(), 0.8);
/// const zero::ScopedAffinity affinity(split.rest);   // this thread leaves the others to host Adam ...
/// ```
/// ... until the end of the scope. Threads that are made meanwhile inherit the affinity.

#include <cstddef>
#include <string>
#include <vector>

#include <gsl/span>

#include <pinwarden/core/error.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden::zero {

/// The system refused to tell or to set the cores of a thread.
class PINWARDEN_API AffinityError : public Error {
public:
    using Error::Error;
};

/// A set of cores by the kernel's numbers; a value.
class PINWARDEN_API CoreSet {
public:
    /// No core.
    CoreSet() noexcept = default;

    /// The given cores, in any order, once each.
    explicit CoreSet(std::vector<std::size_t> cores);

    /// The cores that the calling thread may run on.
    /// @throws AffinityError
    [[nodiscard]] static CoreSet of_this_thread();

    /// In rising order.
    [[nodiscard]] gsl::span<const std::size_t> cores() const PINWARDEN_LIFETIMEBOUND { return cores_; }
    [[nodiscard]] std::size_t size() const noexcept { return cores_.size(); }
    [[nodiscard]] bool empty() const noexcept { return cores_.empty(); }

    friend bool operator==(const CoreSet&, const CoreSet&) = default;

private:
    std::vector<std::size_t> cores_;
};

/// As the kernel writes it: `0-3,8`; `none` for the empty set.
[[nodiscard]] PINWARDEN_API std::string to_string(const CoreSet& set);

/// What host Adam gets and what is left.
struct CoreSplit {
    CoreSet adam;
    CoreSet rest;  ///< empty where nothing is left: both run on `adam` then

    friend bool operator==(const CoreSplit&, const CoreSplit&) = default;
};

/// Gives host Adam the last cores of `allowed`, `fraction` of them to the nearest whole number, but at least
/// one. Less than 1 leaves at least one if there are two.
/// @throws SizeError if `fraction` is not more than 0 and at most 1, or `allowed` is empty.
[[nodiscard]] PINWARDEN_API CoreSplit split_cores(const CoreSet& allowed, double fraction);

/// The calling thread runs on other cores for as long as this lives. To be destroyed by the same thread.
/// Cost: two system calls.
class [[nodiscard]] PINWARDEN_API ScopedAffinity {
public:
    /// Moves the calling thread to `cores`; the empty set changes nothing.
    /// @throws AffinityError; nothing has changed then.
    explicit ScopedAffinity(const CoreSet& cores);
    ScopedAffinity(const ScopedAffinity&) = delete;
    ScopedAffinity& operator=(const ScopedAffinity&) = delete;

    /// Gives the thread its cores back; where the system refuses, the release-failure handler is told.
    ~ScopedAffinity();

private:
    std::vector<unsigned long> before_;  // the kernel's mask, so that giving it back needs no memory
};

}  // namespace pinwarden::zero
