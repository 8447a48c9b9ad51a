// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Small projects for the tests of `pinwarden scan`, and its reports as data.

#include <command/pinwarden_program.hpp>
#include <support/temporary_folder.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pinwarden::testing {

/// A function that pins and leaves without a release on one of its ways out; the finding is at its line 3.
inline const std::string leaking_source = "#include <sys/mman.h>\n"
                                          "int keep(char *key, unsigned long size, int wrong) {\n"
                                          "    if (mlock(key, size) != 0) return -1;\n"
                                          "    if (wrong) return -2;\n"
                                          "    munlock(key, size);\n"
                                          "    return 0;\n"
                                          "}\n";

/// The same, put right.
inline const std::string clean_source = "#include <sys/mman.h>\n"
                                        "int keep(char *key, unsigned long size, int wrong) {\n"
                                        "    if (mlock(key, size) != 0) return -1;\n"
                                        "    (void)wrong;\n"
                                        "    munlock(key, size);\n"
                                        "    return 0;\n"
                                        "}\n";

/// A folder with sources.
class ScanProject {
public:
    /// Writes a file, making its folder.
    void write(const std::filesystem::path& name, const std::string& text) const {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << text;
    }
    [[nodiscard]] std::filesystem::path operator/(const std::filesystem::path& name) const { return folder_ / name; }
    [[nodiscard]] std::string path() const { return folder_.path().string(); }

    /// `pinwarden scan` of the folder, with `more` arguments.
    [[nodiscard]] ProgramRun scan(const std::vector<std::string>& more = {},
                                  const ProgramCircumstances& circumstances = {}) const {
        std::vector<std::string> arguments = {"scan", "--cuda-path", "none", path()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_pinwarden(arguments, circumstances);
    }

    /// The report of such a scan as data.
    /// @throws std::runtime_error if it could not run.
    [[nodiscard]] nlohmann::json report(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--format", "json"});
        const ProgramRun run = scan(more);
        if (run.exit_status != 0 && run.exit_status != 1) throw std::runtime_error(run.errors + run.output);
        return nlohmann::json::parse(run.output);
    }

private:
    TemporaryFolder folder_;
};

}  // namespace pinwarden::testing
