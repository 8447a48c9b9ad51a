// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/relevance.hpp"

#include "scan/driver/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace pinwarden::scan {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_headers_followed = 2000;

bool in_word(char letter) {
    return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
}

/// Where the compiler looks for headers, as far as it is the project's own choice.
struct Folders {
    std::vector<std::string> quoted;
    std::vector<std::string> all;
    std::vector<std::string> forced;  ///< headers that every file begins with
};

Folders folders_of(const AnalyseRequest& request) {
    Folders folders;
    const std::vector<std::string>& words = request.arguments;
    const auto whole = [&](const std::string& path) {
        const fs::path base = request.directory.empty() ? fs::current_path() : fs::path(request.directory);
        return (base / path).lexically_normal().string();
    };
    for (std::size_t at = 0; at < words.size(); ++at) {
        const bool has_next = at + 1 < words.size();
        if (words[at] == "-I" && has_next) {
            folders.all.push_back(whole(words[++at]));
        } else if (words[at].starts_with("-I")) {
            folders.all.push_back(whole(words[at].substr(2)));
        } else if ((words[at] == "-isystem" || words[at] == "-idirafter") && has_next) {
            folders.all.push_back(whole(words[++at]));
        } else if (words[at] == "-iquote" && has_next) {
            folders.quoted.push_back(whole(words[++at]));
        } else if (words[at] == "-include" && has_next) {
            folders.forced.push_back(words[++at]);
        }
    }
    const auto is_the_systems = [](const std::string& folder) { return folder.starts_with("/usr/"); };
    std::erase_if(folders.all, is_the_systems);
    folders.quoted.insert(folders.quoted.end(), folders.all.begin(), folders.all.end());
    return folders;
}

}  // namespace

bool Relevance::tells(std::string_view word) const {
    if (apis_.mentions(word)) return true;
    const std::vector<Api>* const apis = apis_.find(word);
    return apis != nullptr && std::any_of(apis->begin(), apis->end(), [](const Api& api) {
               return api.kind == ApiKind::copy_async || api.kind == ApiKind::callback;
           });
}

Relevance::Content Relevance::read(const std::string& file) const {
    const std::string text = text_of(file);
    Content content;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] == '#') {
            std::size_t word = text.find_first_not_of(" \t", at + 1);
            if (word != std::string::npos && text.compare(word, 7, "include") == 0) {
                const std::size_t line_end = std::min(text.find('\n', word), text.size());
                word = word + 7;
                if (text.compare(word, 5, "_next") == 0) word += 5;
                const std::size_t open = std::min(text.find_first_not_of(" \t", word), text.size());
                const char closing = open < text.size() && text[open] == '<' ? '>' : '"';
                const std::size_t close = open < line_end ? text.find(closing, open + 1) : std::string::npos;
                std::vector<std::string>& names = closing == '"' ? content.quoted : content.angled;
                if (open < line_end && (text[open] == '"' || text[open] == '<') && close < line_end)
                    names.push_back(text.substr(open + 1, close - open - 1));
                else
                    content.tells = true;
                at = line_end;
                continue;
            }
        }
        if (!in_word(text[at])) {
            ++at;
            continue;
        }
        const std::size_t start = at;
        while (at < text.size() && in_word(text[at])) ++at;
        content.tells = content.tells || tells(std::string_view(text).substr(start, at - start));
    }
    return content;
}

std::shared_ptr<const Relevance::Content> Relevance::content_of(const std::string& file) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = contents_.find(file); known != contents_.end()) return known->second;
    }
    std::error_code ignored;
    std::shared_ptr<const Content> content;
    if (fs::is_regular_file(file, ignored)) content = std::make_shared<const Content>(read(file));
    const std::lock_guard lock(mutex_);
    return contents_.try_emplace(file, std::move(content)).first->second;
}

std::string Relevance::resolve(const std::string& name, const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
        const std::string file = (fs::path(folder) / name).lexically_normal().string();
        if (content_of(file)) return file;
    }
    return {};
}

bool Relevance::is_relevant(const AnalyseRequest& request) {
    const Folders folders = folders_of(request);
    std::set<std::string> seen{request.file};
    std::deque<std::string> waiting{request.file};
    const auto follow = [&](const std::string& header) {
        if (!header.empty() && seen.insert(header).second) waiting.push_back(header);
    };
    for (const std::string& header : folders.forced) follow(resolve(header, folders.quoted));
    while (!waiting.empty()) {
        const std::string file = std::move(waiting.front());
        waiting.pop_front();
        const std::shared_ptr<const Content> content = content_of(file);
        if (!content || content->tells || seen.size() > most_headers_followed) return true;
        for (const std::string& name : content->quoted) {
            const std::string beside = (fs::path(file).parent_path() / name).lexically_normal().string();
            follow(content_of(beside) ? beside : resolve(name, folders.quoted));
        }
        for (const std::string& name : content->angled) follow(resolve(name, folders.all));
    }
    return false;
}

}  // namespace pinwarden::scan
