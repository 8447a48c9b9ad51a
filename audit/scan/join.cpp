// SPDX-License-Identifier: Apache-2.0
#include "join.hpp"

#include "join_index.hpp"

#include <set>
#include <utility>

namespace pinwarden::scan {

std::vector<Finding> join_facts(const std::vector<FileFacts>& files)
{
    const JoinIndex index(files);
    JoinResult result;
    join_callbacks(index, result);
    join_wrong_releases(index, result);
    join_conditions(index, result);
    join_flights(index, result);
    join_classes(index, result);
    join_structs(index, result);
    sort_and_unify(result.findings);
    return std::move(result.findings);
}

std::vector<Api> wrappers_of(const std::vector<FileFacts>& files)
{
    std::vector<Api> out;
    std::set<std::pair<std::string, int>> seen;
    for (const FileFacts& file : files) {
        for (const Api& api : file.wrappers) {
            if (seen.emplace(api.name + (is_pin(api.kind) ? "+" : "-"), api.argument).second)
                out.push_back(api);
        }
    }
    return out;
}

}  // namespace pinwarden::scan
