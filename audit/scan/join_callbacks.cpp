// SPDX-License-Identifier: Apache-2.0
#include "join_index.hpp"

namespace pinwarden::scan {

/// `release-in-callback`: the device's runtime allows none of its own calls in a function that a stream
/// calls.
void join_callbacks(const JoinIndex& index, JoinResult& result)
{
    for (const CallbackFact* callback : index.callbacks) {
        for (const std::string& reached : index.reached_from(callback->function)) {
            const auto at = index.functions.find(reached);
            if (at == index.functions.end())
                continue;
            const FunctionFact& function = *at->second;
            for (std::size_t i = 0; i < function.releases.size(); ++i) {
                const std::string& name = function.release_names[i];
                if (!name.starts_with("cu") && !name.starts_with("hip"))
                    continue;
                result.add("release-in-callback", Confidence::certain, function.releases[i],
                           "'" + name +
                               "' is called from a function that a stream calls; it is refused there, and "
                               "the pin is never released",
                           function.function,
                           {{callback->location, "the function is handed to the stream here"}});
            }
        }
    }
}

}  // namespace pinwarden::scan
