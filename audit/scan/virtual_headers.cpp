// SPDX-License-Identifier: Apache-2.0
#include "virtual_headers.hpp"

#include <initializer_list>

namespace pinwarden::scan {
namespace {

constexpr std::string_view root = "/pinwarden-prelude/";

using Files = std::vector<std::pair<std::string, std::string>>;

/// Gives several header names one text in the folder `part`.
void alias(Files& files, std::string_view part, std::string_view target,
           std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        const std::string include =
            "#include \"" + std::string(root) + "impl/" + std::string(target) + "\"\n";
        files.emplace_back(std::string(root) + std::string(part) + "/" + name, include);
    }
}

Files make_files()
{
    Files files;
    for (const auto& [name, text] : embedded_prelude())
        files.emplace_back(std::string(root) + "impl/" + std::string(name), std::string(text));

    alias(files, "cuda", "cuda_runtime.h",
          {"cuda_runtime.h", "cuda_runtime_api.h", "driver_types.h", "device_launch_parameters.h",
           "vector_types.h", "cuda_device_runtime_api.h", "host_defines.h"});
    alias(files, "cuda", "cuda_driver.h", {"cuda.h"});
    alias(files, "other", "hip_runtime.h", {"hip/hip_runtime.h", "hip/hip_runtime_api.h"});
    alias(files, "other", "verbs.h", {"infiniband/verbs.h"});
    alias(files, "other", "liburing.h", {"liburing.h"});
    alias(files, "std", "libc.h",
          {"assert.h",    "errno.h",     "fcntl.h",     "inttypes.h", "limits.h",       "malloc.h",
           "math.h",      "memory.h",    "pthread.h",   "signal.h",   "stdalign.h",     "stdarg.h",
           "stdatomic.h", "stdbool.h",   "stddef.h",    "stdint.h",   "stdio.h",        "stdlib.h",
           "string.h",    "strings.h",   "sys/ioctl.h", "sys/mman.h", "sys/resource.h", "sys/stat.h",
           "sys/time.h",  "sys/types.h", "sys/uio.h",   "time.h",     "unistd.h"});
    alias(files, "std", "libcxx.h",
          {"algorithm",
           "array",
           "atomic",
           "bit",
           "cassert",
           "cerrno",
           "chrono",
           "cinttypes",
           "climits",
           "cmath",
           "condition_variable",
           "cstdarg",
           "cstddef",
           "cstdint",
           "cstdio",
           "cstdlib",
           "cstring",
           "deque",
           "exception",
           "fstream",
           "functional",
           "future",
           "initializer_list",
           "iomanip",
           "iostream",
           "iterator",
           "limits",
           "list",
           "map",
           "memory",
           "mutex",
           "new",
           "numeric",
           "optional",
           "ostream",
           "queue",
           "set",
           "shared_mutex",
           "span",
           "sstream",
           "stack",
           "stdexcept",
           "string",
           "string_view",
           "system_error",
           "thread",
           "tuple",
           "type_traits",
           "unordered_map",
           "unordered_set",
           "utility",
           "variant",
           "vector"});
    files.emplace_back(std::string(toolkit_patch_folder()) + "/texture_fetch_functions.h", "");
    return files;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& virtual_headers()
{
    static const Files files = make_files();
    return files;
}

const std::vector<VirtualFolder>& virtual_folders()
{
    static const std::vector<VirtualFolder> folders{{std::string(root) + "cuda", true},
                                                    {std::string(root) + "other", false},
                                                    {std::string(root) + "std", false}};
    return folders;
}

std::string_view toolkit_patch_folder()
{
    return "/pinwarden-prelude/toolkit";
}

}  // namespace pinwarden::scan
