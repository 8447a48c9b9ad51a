// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/selection.hpp>

#include "backend/cuda_support.hpp"
#include "core/published.hpp"

#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/error.hpp>

#include <cstdlib>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace pinwarden {
namespace {

std::optional<std::string_view> variable_value() {
    const char* const value = std::getenv(backend_variable.data());
    if (value == nullptr) return std::nullopt;
    return std::string_view(value);
}

// The outcome is kept whole, so that a wrong value is the same clear error for everyone who asks.
struct Outcome {
    BackendSelection selection;
    std::exception_ptr error;
};

Outcome select_once() {
    try {
        return {select_backend(variable_value(), detail::cuda_availability()), nullptr};
    } catch (const Error&) {
        return {{}, std::current_exception()};
    }
}

}  // namespace

BackendSelection select_backend(std::optional<std::string_view> value, const CudaAvailability& cuda) {
    if (!value) {
        if (cuda.backend) {
            return {cuda.backend, fmt::format("{} is not set, and a CUDA device answers", backend_variable)};
        }
        return {native_backend(), fmt::format("{} is not set, and {}", backend_variable, cuda.reason)};
    }
    if (*value == "native") return {native_backend(), fmt::format("{}=native", backend_variable)};
    if (*value == "cuda" || *value == "torch") {
        if (cuda.backend) return {cuda.backend, fmt::format("{}={}", backend_variable, *value)};
        throw UnavailableError(fmt::format("{}={} asks for memory from the CUDA runtime, but {}; set {}=native or "
                                           "unset it",
                                           backend_variable, *value, cuda.reason, backend_variable));
    }
    throw ConfigurationError(fmt::format("{}='{}' is not a way to pin memory; valid values are 'native' and 'cuda' "
                                         "('torch' is accepted for 'cuda'), or leave it unset",
                                         backend_variable, *value));
}

const BackendSelection& default_backend() {
    static constinit detail::Published<Outcome> published;
    const Outcome& outcome = published.get_or(select_once);
    if (outcome.error) std::rethrow_exception(outcome.error);
    return outcome.selection;
}

}  // namespace pinwarden
