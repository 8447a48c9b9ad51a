// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/project_file.hpp"

#include "scan/driver/rules.hpp"

#include <pinwarden/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace pinwarden::scan {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> word_keys = {"name", "kind", "family", "success"};
constexpr std::array<std::string_view, 6> number_keys = {"argument",        "memory-argument", "size-argument",
                                                         "stream-argument", "flag-argument",   "foreign-code"};

bool is_below(const fs::path& path, const fs::path& folder) {
    const fs::path relative = path.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

class Reader {
public:
    explicit Reader(const fs::path& file) : file_(file) { project_.folder = fs::absolute(file).parent_path(); }

    ProjectFile read() {
        std::ifstream stream(file_, std::ios::binary);
        if (!stream) {
            throw ConfigurationError(
                fmt::format("Cannot read {}: it does not exist or may not be read.", file_.string()));
        }
        const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
        try {
            read_top(YAML::Load(text));
        } catch (const YAML::Exception& error) {
            refuse(error.mark, error.msg);
        }
        check_families();
        return std::move(project_);
    }

private:
    [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) const {
        throw ConfigurationError(
            fmt::format("{}:{}:{}: {}", file_.string(), mark.line + 1, mark.column + 1, problem));
    }

    [[nodiscard]] std::string word(const YAML::Node& node, std::string_view what) const {
        if (!node.IsScalar() || node.Scalar().empty()) refuse(node.Mark(), fmt::format("{} must be a word", what));
        return node.Scalar();
    }

    /// Calls `take(key, key node, value)` for each entry of a map that says nothing twice.
    template <class Take>
    void each_entry(const YAML::Node& node, std::string_view what, const Take& take) const {
        if (!node.IsMap()) refuse(node.Mark(), fmt::format("{} must be a map of `key: value`", what));
        std::set<std::string> seen;
        for (const auto& entry : node) {
            const std::string key = word(entry.first, "a key");
            if (!seen.insert(key).second) refuse(entry.first.Mark(), fmt::format("'{}' stands here twice", key));
            take(key, entry.first, entry.second);
        }
    }

    [[nodiscard]] std::vector<std::string> words(const YAML::Node& node, std::string_view what) const {
        if (!node.IsSequence()) refuse(node.Mark(), fmt::format("'{}' must be a list", what));
        std::vector<std::string> list;
        for (const YAML::Node& entry : node) list.push_back(word(entry, fmt::format("an entry of '{}'", what)));
        return list;
    }

    [[nodiscard]] bool truth(const YAML::Node& node, std::string_view what) const {
        bool value = false;
        if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
            refuse(node.Mark(), fmt::format("'{}' must be true or false", what));
        return value;
    }

    void read_top(const YAML::Node& top) {
        if (top.IsNull()) return;
        each_entry(top, "the file", [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
            if (key == "apis") {
                if (!value.IsSequence()) refuse(value.Mark(), "'apis' must be a list of calls");
                for (const YAML::Node& entry : value) read_api(entry);
            } else if (key == "skip") {
                project_.skip = words(value, key);
            } else if (key == "allow-pins-in") {
                for (const std::string& folder : words(value, key))
                    project_.allowed_folders.push_back((project_.folder / folder).lexically_normal().string());
            } else if (key == "require-handles") {
                project_.require_handles = truth(value, key);
            } else if (key == "rules") {
                read_rules(value);
            } else {
                refuse(at.Mark(), fmt::format("'{}' is unknown; there are apis, skip, allow-pins-in, require-handles "
                                              "and rules",
                                              key));
            }
        });
    }

    void read_rules(const YAML::Node& node) {
        each_entry(node, "'rules'", [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
            if (rule_index(key) == all_rules().size())
                refuse(at.Mark(), fmt::format("there is no rule '{}'; there are {}", key, rule_names()));
            const std::string setting = word(value, "a rule's setting");
            if (setting != "all" && setting != "certain" && setting != "off") {
                refuse(value.Mark(), fmt::format("'{}' is no setting of a rule; use all, certain or off", setting));
            }
            project_.rules[key] = setting == "all"       ? RuleSetting::all
                                  : setting == "certain" ? RuleSetting::certain
                                                         : RuleSetting::off;
        });
    }

    void read_api(const YAML::Node& node) {
        nlohmann::json api = nlohmann::json::object();
        each_entry(node, "a call", [&](const std::string& key, const YAML::Node& at, const YAML::Node& value) {
            const auto is_among = [&](const auto& keys) {
                return std::find(keys.begin(), keys.end(), key) != keys.end();
            };
            if (is_among(word_keys)) {
                api[key] = word(value, key);
            } else if (is_among(number_keys)) {
                int number = 0;
                if (!value.IsScalar() || !YAML::convert<int>::decode(value, number))
                    refuse(value.Mark(), fmt::format("'{}' must be a whole number", key));
                api[key] = number;
            } else if (key == "by-range") {
                api[key] = truth(value, key);
            } else if (key == "flag-mask") {
                std::uint64_t mask = 0;
                if (!value.IsScalar() || !YAML::convert<std::uint64_t>::decode(value, mask))
                    refuse(value.Mark(), "'flag-mask' must be a whole number that is not negative");
                api[key] = mask;
            } else {
                refuse(at.Mark(), fmt::format("'{}' is no property of a call; there are {}, {}, by-range and flag-mask",
                                              key, fmt::join(word_keys, ", "), fmt::join(number_keys, ", ")));
            }
        });
        for (const char* needed : {"name", "kind"}) {
            if (!api.contains(needed)) refuse(node.Mark(), fmt::format("the call has no '{}'", needed));
        }
        try {
            if (api["kind"] == "pin-return" && !api.contains("argument")) api["argument"] = -1;
            project_.apis.push_back(api.get<Api>());
        } catch (const std::invalid_argument& error) {
            refuse(node.Mark(), error.what());
        }
        const Api& added = project_.apis.back();
        if ((is_pin(added.kind) || added.kind == ApiKind::release) && !api.contains("family")) {
            refuse(node.Mark(),
                   fmt::format("the call '{}' has no 'family', which says what pairs with it", added.name));
        }
        marks_.push_back(node.Mark());
    }

    /// A pin that nothing can release would be reported wherever it stands.
    void check_families() const {
        ApiTable table = ApiTable::builtin();
        for (const Api& api : project_.apis) table.add(api);
        for (std::size_t index = 0; index < project_.apis.size(); ++index) {
            const Api& pin = project_.apis[index];
            if (!is_pin(pin.kind)) continue;
            const bool released =
                std::any_of(table.entries().begin(), table.entries().end(), [&](const auto& entry) {
                    return std::any_of(entry.second.begin(), entry.second.end(), [&](const Api& api) {
                        return api.kind == ApiKind::release && ApiTable::compatible(api.family, pin.family);
                    });
                });
            if (!released) {
                refuse(marks_[index], fmt::format("'{}' pins for the family '{}', and no call of that family releases",
                                                  pin.name, pin.family));
            }
        }
    }

    const fs::path& file_;
    ProjectFile project_;
    std::vector<YAML::Mark> marks_;
};

}  // namespace

bool ProjectFile::covers(const fs::path& file) const {
    return is_below(file, folder);
}

bool ProjectFile::skips(const fs::path& file) const {
    if (!covers(file)) return false;
    const std::string relative = file.lexically_relative(folder).string();
    return std::any_of(skip.begin(), skip.end(), [&](const std::string& entry) {
        return is_below(file, (folder / entry).lexically_normal()) ||
               ::fnmatch(entry.c_str(), relative.c_str(), 0) == 0;
    });
}

bool ProjectFile::wants(const Finding& finding) const {
    const auto setting = rules.find(finding.rule);
    if (setting == rules.end() || setting->second == RuleSetting::all || !covers(finding.location.file)) return true;
    return setting->second == RuleSetting::certain && finding.confidence == Confidence::certain;
}

ProjectFile read_project_file(const fs::path& file) {
    return Reader(file).read();
}

std::vector<ProjectFile> find_project_files(const std::vector<fs::path>& paths) {
    std::set<fs::path> files;
    for (const fs::path& path : paths) {
        std::error_code ignored;
        fs::path folder = fs::absolute(path).lexically_normal();
        if (!fs::is_directory(folder, ignored) || !folder.has_filename()) folder = folder.parent_path();
        while (true) {
            if (fs::exists(folder / project_file_name, ignored)) {
                files.insert(folder / project_file_name);
                break;
            }
            if (fs::exists(folder / ".git", ignored) || !folder.has_relative_path()) break;
            folder = folder.parent_path();
        }
    }
    std::vector<ProjectFile> projects;
    for (const fs::path& file : files) projects.push_back(read_project_file(file));
    return projects;
}

}  // namespace pinwarden::scan
