// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/compiler_arguments.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace pinwarden::scan {

namespace {

/// An option with a value: as spelled, and as clang spells it.
struct ValueOption {
    std::string_view name;
    std::string_view clang;
};

/// Options whose value is kept. The value is attached, joined by `=` or the next word.
constexpr std::array kept_with_value = {
    ValueOption{"-isystem", "-isystem"},        ValueOption{"-iquote", "-iquote"},
    ValueOption{"-idirafter", "-idirafter"},    ValueOption{"-include", "-include"},
    ValueOption{"-imacros", "-imacros"},        ValueOption{"--include-path", "-I"},
    ValueOption{"--system-include", "-isystem"}, ValueOption{"--define-macro", "-D"},
    ValueOption{"--undefine-macro", "-U"},      ValueOption{"--pre-include", "-include"},
    ValueOption{"-isysroot", "-isysroot"},      ValueOption{"--sysroot", "--sysroot"},
    ValueOption{"-I", "-I"},                    ValueOption{"-D", "-D"},
    ValueOption{"-U", "-U"},
};

/// Options whose value is the next word, both of no interest here.
constexpr std::array<std::string_view, 30> dropped_with_value = {
    "-o",         "-MF",         "-MT",          "-MQ",          "-MJ",       "-arch",
    "-gencode",   "-code",       "-ccbin",       "-Xptxas",      "-Xlinker",  "-Xcudafe",
    "-Xnvlink",   "-Xfatbin",    "-Xarchive",    "-target",      "--param",   "-maxrregcount",
    "-dir",       "-odir",       "-t",           "-L",           "-l",        "--gpu-architecture",
    "--gpu-code", "--generate-code", "--compiler-bindir", "--threads", "--output-file", "-Xclang",
};

constexpr std::array<std::string_view, 14> kept_words = {
    "-nostdinc", "-nostdinc++", "-pthread",  "-ansi",          "-fexceptions", "-fno-exceptions", "-fno-rtti",
    "-frtti",    "-fopenmp",    "-fchar8_t", "-fshort-enums",  "-m32",         "-m64",            "-undef",
};

constexpr std::array<std::string_view, 5> kept_prefixes = {"-stdlib=", "-mavx", "-msse", "-mfma", "-mf16c"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

class Translation {
public:
    explicit Translation(const std::vector<std::string>& words) : words_(words) {}

    std::vector<std::string> run(std::size_t first) {
        for (at_ = first; at_ < words_.size(); ++at_) take(words_[at_]);
        return std::move(kept_);
    }

private:
    void take(const std::string& word) {
        if (take_host_compiler_words(word) || take_standard(word) || take_language(word)) return;
        if (contains(dropped_with_value, word)) {
            ++at_;
            return;
        }
        if (take_value(word)) return;
        const bool kept = contains(kept_words, word) ||
                          std::any_of(kept_prefixes.begin(), kept_prefixes.end(),
                                      [&](std::string_view prefix) { return word.starts_with(prefix); });
        if (kept) kept_.push_back(word);
    }

    /// The value after `name`: joined by `=`, or the next word. False if `word` is another option.
    bool value_of(const std::string& word, std::string_view name, std::string& value) {
        if (word == name) {
            value = at_ + 1 < words_.size() ? words_[++at_] : std::string{};
            return true;
        }
        if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
            value = word.substr(name.size() + 1);
            return true;
        }
        return false;
    }

    bool take_host_compiler_words(const std::string& word) {
        std::string value;
        if (!value_of(word, "-Xcompiler", value) && !value_of(word, "--compiler-options", value)) return false;
        std::vector<std::string> inner;
        std::size_t start = 0;
        while (start <= value.size()) {
            const std::size_t comma = std::min(value.find(',', start), value.size());
            inner.push_back(value.substr(start, comma - start));
            start = comma + 1;
        }
        const std::vector<std::string> translated = Translation(inner).run(0);
        kept_.insert(kept_.end(), translated.begin(), translated.end());
        return true;
    }

    bool take_standard(const std::string& word) {
        std::string value;
        if (!value_of(word, "-std", value) && !value_of(word, "--std", value)) return false;
        kept_.push_back("-std=" + value);
        return true;
    }

    bool take_language(const std::string& word) {
        std::string value;
        if (!value_of(word, "-x", value)) return false;
        kept_.insert(kept_.end(), {"-x", value == "cu" ? "cuda" : value});
        return true;
    }

    bool take_value(const std::string& word) {
        std::string value;
        for (const ValueOption& option : kept_with_value) {
            if (!value_of(word, option.name, value)) {
                const bool attached = !option.name.starts_with("--") && word.size() > option.name.size() &&
                                      word.starts_with(option.name);
                if (!attached) continue;
                value = word.substr(option.name.size());
            }
            const bool one_word = option.clang == "-I" || option.clang == "-D" || option.clang == "-U";
            if (one_word) {
                kept_.push_back(std::string(option.clang) + value);
            } else {
                kept_.emplace_back(option.clang);
                kept_.push_back(value);
            }
            return true;
        }
        return false;
    }

    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    std::vector<std::string> kept_;
};

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = '\0';
    for (std::size_t at = 0; at < command.size(); ++at) {
        const char letter = command[at];
        const bool escapes = letter == '\\' && quote != '\'' && at + 1 < command.size();
        if (escapes && (quote == '\0' || command[at + 1] == '"' || command[at + 1] == '\\')) {
            word += command[++at];
            in_word = true;
        } else if (quote != '\0') {
            if (letter == quote)
                quote = '\0';
            else
                word += letter;
        } else if (letter == '"' || letter == '\'') {
            quote = letter;
            in_word = true;
        } else if (letter == ' ' || letter == '\t' || letter == '\n') {
            if (in_word) words.push_back(std::move(word));
            word.clear();
            in_word = false;
        } else {
            word += letter;
            in_word = true;
        }
    }
    if (in_word) words.push_back(std::move(word));
    return words;
}

std::vector<std::string> translate_command(const std::vector<std::string>& command) {
    // A launcher such as ccache stands before the compiler; neither is an option, and neither is kept.
    return Translation(command).run(command.empty() ? 0 : 1);
}

}  // namespace pinwarden::scan
