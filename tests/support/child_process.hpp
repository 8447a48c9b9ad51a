// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Runs a part of a test in a process of its own: what is decided once for each process, limits that cannot
/// be taken back, and what is written to the standard error stream.
///
/// ```
/// const ChildResult child = run_in_child([] { return std::string(default_backend().backend->name()); });
/// CHECK(child.answer == "native");
/// ```

#include <functional>
#include <string>

namespace pinwarden::testing {

/// How a child ended.
struct ChildResult {
    int exit_status = -1;  ///< 0 if `work` returned, 1 if it threw; -1 if a signal ended it
    std::string answer;    ///< what `work` returned, or the text of the exception that left it
    std::string errors;    ///< what was written to the standard error stream
};

/// Runs `work` in a forked child, which then ends without running any destructor of a static object.
/// Assertions of the test framework belong into the parent: let `work` answer what is to be checked.
[[nodiscard]] ChildResult run_in_child(const std::function<std::string()>& work);

/// For a child: gives up all capabilities, so that limits hold although the test runs as root.
void become_unprivileged();

}  // namespace pinwarden::testing
