// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Which files are worth parsing at all: most of a large tree has nothing to do with pins, and reading a file is a
/// thousand times faster than parsing it.

#include "scan/analyse.hpp"
#include "scan/api_table.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinwarden::scan {

/// Looks for the names of calls in sources and the headers they include. Headers of the system are not looked into:
/// what they declare is of no interest before somebody uses it. Thread-safe.
class Relevance {
public:
    /// @param apis all calls that count, with those of the project.
    explicit Relevance(ApiTable apis) : apis_(std::move(apis)) {}

    /// True unless neither the file nor a header that it includes names a call that pins, releases, copies or hands a
    /// function to a stream. What cannot be followed counts as relevant.
    [[nodiscard]] bool is_relevant(const AnalyseRequest& request);

private:
    /// What one file says.
    struct Content {
        bool tells = false;    ///< names a call, or includes something that cannot be told
        std::vector<std::string> quoted;
        std::vector<std::string> angled;
    };

    std::shared_ptr<const Content> content_of(const std::string& file);
    [[nodiscard]] bool tells(std::string_view word) const;
    [[nodiscard]] Content read(const std::string& file) const;
    [[nodiscard]] std::string resolve(const std::string& name, const std::vector<std::string>& folders);

    ApiTable apis_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Content>> contents_;  ///< null: there is no such file
};

}  // namespace pinwarden::scan
