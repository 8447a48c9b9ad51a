// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/compile_database.hpp"

#include "scan/driver/compiler_arguments.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace pinwarden::scan {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& problem) {
    throw ConfigurationError(fmt::format("Cannot use the compile database {}: {}; let the build write it "
                                         "anew (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON), or leave out -p.",
                                         file.string(), problem));
}

CompileCommand command_of(const nlohmann::json& entry, const std::string& directory) {
    if (entry.contains("arguments"))
        return {directory, translate_command(entry.at("arguments").get<std::vector<std::string>>())};
    return {directory, translate_command(split_command(entry.at("command").get<std::string>()))};
}

}  // namespace

CompileDatabase read_compile_database(const std::filesystem::path& build_directory) {
    std::error_code ignored;
    const std::filesystem::path file = std::filesystem::is_directory(build_directory, ignored)
                                           ? build_directory / "compile_commands.json"
                                           : build_directory;
    std::ifstream stream(file);
    if (!stream) refuse(file, "it does not exist or cannot be read");
    CompileDatabase database;
    std::size_t number = 0;
    try {
        const nlohmann::json entries = nlohmann::json::parse(stream);
        if (!entries.is_array()) refuse(file, "it is no JSON array");
        for (const nlohmann::json& entry : entries) {
            const std::filesystem::path directory = entry.at("directory").get<std::string>();
            const std::filesystem::path source =
                std::filesystem::absolute(directory / entry.at("file").get<std::string>()).lexically_normal();
            database.emplace(source.string(), command_of(entry, directory.string()));
            ++number;
        }
    } catch (const nlohmann::json::parse_error& error) {
        refuse(file, error.what());
    } catch (const nlohmann::json::exception& error) {
        refuse(file, fmt::format("entry {}: {}", number, error.what()));
    }
    return database;
}

}  // namespace pinwarden::scan
