// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/core/completion.hpp>

namespace pinwarden {

CompletionToken::~CompletionToken() = default;

void wait_until_complete(const CompletionToken& token) noexcept {
    while (!token.wait_for(std::chrono::hours(1))) {
    }
}

}  // namespace pinwarden
