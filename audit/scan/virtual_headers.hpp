// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Headers that exist only in memory. They stand in for what a machine lacks: the CUDA toolkit, HIP, verbs,
/// liburing, and in the last resort the C and C++ libraries. They are searched last, so that a real header
/// always wins.
namespace pinwarden::scan {

/// One folder of the in-memory tree, to be searched after all real folders.
struct VirtualFolder {
    std::string path;
    bool stands_in_for_toolkit = false;  ///< leave out where the real toolkit is used
};

/// Path and text of every header in memory.
const std::vector<std::pair<std::string, std::string>>& virtual_headers();

/// The folders to search, in order.
const std::vector<VirtualFolder>& virtual_folders();

/// A folder with the few headers that clang 19 asks for and newer toolkits no longer ship.
std::string_view toolkit_patch_folder();

/// The text of a file of the prelude as it was embedded at build time. Defined by the build.
const std::vector<std::pair<std::string_view, std::string_view>>& embedded_prelude();

}  // namespace pinwarden::scan
