// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "virtual_headers.hpp"

#include <algorithm>
#include <filesystem>

namespace pinwarden::scan {
namespace {

std::string extension(const std::string& file)
{
    return std::filesystem::path(file).extension().string();
}

bool given(const std::vector<std::string>& arguments, std::string_view prefix)
{
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const std::string& argument) { return argument.starts_with(prefix); });
}

std::string resource_directory(const AnalyseRequest& request)
{
    if (!request.resource_directory.empty())
        return request.resource_directory;
    for (const char* place :
         {PINWARDEN_CLANG_RESOURCE_DIR, "/usr/lib/llvm-19/lib/clang/19", "/usr/lib/clang/19"}) {
        std::error_code ignored;
        if (std::filesystem::exists(std::filesystem::path(place) / "include", ignored))
            return place;
    }
    return {};
}

}  // namespace

std::vector<std::string> command_line(const AnalyseRequest& request)
{
    const std::string ending = extension(request.file);
    const std::vector<std::string>& asked = request.arguments;
    const bool cuda = ending == ".cu" || ending == ".cuh";
    const bool c = ending == ".c";
    std::vector<std::string> out{c ? "clang" : "clang++"};
    const bool language_given = given(asked, "-x");
    if (!language_given) {
        out.insert(out.end(), {"-x", cuda ? "cuda" : c ? "c" : "c++"});
    }
    const bool is_cuda = cuda || std::find(asked.begin(), asked.end(), "cuda") != asked.end();
    const bool toolkit = !request.cuda_path.empty();
    if (is_cuda) {
        out.insert(out.end(), {"--cuda-host-only", "-nocudalib"});
        if (toolkit)
            out.push_back("--cuda-path=" + request.cuda_path);
        else
            out.insert(out.end(), {"-nocudainc", "-include", "cuda_runtime.h"});
    }
    if (!given(asked, "-std="))
        out.push_back(c ? "-std=gnu17" : "-std=gnu++17");
    out.insert(out.end(), asked.begin(), asked.end());
    if (const std::string resources = resource_directory(request); !resources.empty())
        out.insert(out.end(), {"-resource-dir", resources});
    if (toolkit) {
        out.insert(out.end(),
                   {"-isystem", std::string(toolkit_patch_folder()), "-isystem",
                    request.cuda_path + "/include", "-isystem", request.cuda_path + "/include/cccl"});
    }
    for (const VirtualFolder& folder : virtual_folders()) {
        // Without a toolkit its stand-in goes first, so that stray headers of an incomplete one do no harm.
        if (folder.stands_in_for_toolkit && !toolkit)
            out.insert(out.end(), {"-isystem", folder.path});
        else if (!folder.stands_in_for_toolkit)
            out.insert(out.end(), {"-idirafter", folder.path});
    }
    out.insert(out.end(), {"-fsyntax-only", "-w", "-ferror-limit=0", "-fno-spell-checking",
                           "-fbracket-depth=4096", "-fno-delayed-template-parsing", request.file});
    return out;
}

}  // namespace pinwarden::scan
