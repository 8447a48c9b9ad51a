// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/backend/selection.hpp>

#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>

#include <cstdlib>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <support/child_process.hpp>

namespace pinwarden {

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

const CudaAvailability without_cuda{nullptr, "no device answered"};

CudaAvailability with_cuda() { return {std::make_shared<ScriptedBackend>(), ""}; }

// The first call decides for the whole process, so every answer of default_backend() needs a process of its
// own.
testing::ChildResult default_backend_with(const char* value) {
    return testing::run_in_child([value] {
        if (value == nullptr) {
            ::unsetenv(backend_variable.data());
        } else {
            ::setenv(backend_variable.data(), value, 1);
        }
        const BackendSelection& selection = default_backend();
        return std::string(selection.backend->name()) + " because " + selection.reason;
    });
}

}  // namespace

TEST_CASE("The variable has the name that users of DeepSpeed know", "[backend]") {
    CHECK(backend_variable == "DS_PIN_MEMORY_BACKEND");
}

TEST_CASE("Native is chosen by name, whether there is a device or not", "[backend]") {
    for (const CudaAvailability& cuda : {without_cuda, with_cuda()}) {
        const BackendSelection selection = select_backend("native", cuda);
        CHECK(selection.backend == native_backend());
        CHECK(selection.reason == "DS_PIN_MEMORY_BACKEND=native");
    }
}

TEST_CASE("Cuda is chosen by either of its names", "[backend]") {
    const std::string name = GENERATE("cuda", "torch");
    const CudaAvailability cuda = with_cuda();
    const BackendSelection selection = select_backend(name, cuda);
    CHECK(selection.backend == cuda.backend);
    CHECK(selection.reason == "DS_PIN_MEMORY_BACKEND=" + name);
}

TEST_CASE("Cuda asked for by name and not available is an error, never a fallback", "[backend]") {
    const std::string name = GENERATE("cuda", "torch");
    CHECK_THROWS_MATCHES(
        select_backend(name, without_cuda), UnavailableError,
        MessageMatches(ContainsSubstring("DS_PIN_MEMORY_BACKEND=" + name) &&
                       ContainsSubstring("no device answered") && ContainsSubstring("=native")));
}

TEST_CASE("Not set, the device decides, and the reason is said", "[backend]") {
    const CudaAvailability cuda = with_cuda();
    const BackendSelection with = select_backend(std::nullopt, cuda);
    CHECK(with.backend == cuda.backend);
    CHECK_THAT(with.reason, ContainsSubstring("is not set") && ContainsSubstring("CUDA device answers"));

    const BackendSelection without = select_backend(std::nullopt, without_cuda);
    CHECK(without.backend == native_backend());
    CHECK_THAT(without.reason, ContainsSubstring("is not set") && ContainsSubstring("no device answered"));
}

TEST_CASE("Any other value is an error that quotes it and lists the valid ones", "[backend]") {
    const std::string value = GENERATE("", " ", "Native", "NATIVE", "native ", " native", "cuda:0", "CUDA",
                                       "pageable", "scripted", "0", "auto", "none", "torch,native");
    for (const CudaAvailability& cuda : {without_cuda, with_cuda()}) {
        CHECK_THROWS_MATCHES(select_backend(value, cuda), ConfigurationError,
                             MessageMatches(ContainsSubstring("DS_PIN_MEMORY_BACKEND='" + value + "'") &&
                                            ContainsSubstring("'native'") && ContainsSubstring("'cuda'") &&
                                            ContainsSubstring("'torch'")));
    }
}

TEST_CASE("The process's backend follows the environment", "[backend]") {
    const auto native = default_backend_with("native");
    CHECK(native.exit_status == 0);
    CHECK(native.answer == "native because DS_PIN_MEMORY_BACKEND=native");
    const auto unset = default_backend_with(nullptr);
    CHECK(unset.exit_status == 0);
    CHECK_THAT(unset.answer, ContainsSubstring(" because DS_PIN_MEMORY_BACKEND is not set"));
}

TEST_CASE("A wrong value in the environment is an error at the first use", "[backend]") {
    for (const char* value : {"", "nativ", "pageable"}) {
        const auto child = default_backend_with(value);
        CHECK(child.exit_status == 1);
        CHECK_THAT(child.answer, ContainsSubstring("valid values are 'native' and 'cuda'"));
    }
}

TEST_CASE("The environment is read once, and what it said then holds for the whole process", "[backend]") {
    const auto child = testing::run_in_child([] {
        ::setenv(backend_variable.data(), "native", 1);
        const BackendSelection* const first = &default_backend();
        ::setenv(backend_variable.data(), "no such backend", 1);
        const BackendSelection* const second = &default_backend();
        ::unsetenv(backend_variable.data());
        const bool same = second == first && &default_backend() == first;
        return std::string(same ? "the same, " : "another, ") + second->reason;
    });
    CHECK(child.exit_status == 0);
    CHECK(child.answer == "the same, DS_PIN_MEMORY_BACKEND=native");
}

TEST_CASE("A wrong value stays an error for everyone who asks later", "[backend]") {
    const auto child = testing::run_in_child([] {
        ::setenv(backend_variable.data(), "wrong", 1);
        std::string texts;
        for (int i = 0; i < 2; ++i) {
            try {
                static_cast<void>(default_backend());
                texts += "no error;";
            } catch (const ConfigurationError& error) {
                texts += std::string(error.what()).find("'wrong'") != std::string::npos ? "wrong;" : "other;";
            }
            ::setenv(backend_variable.data(), "native", 1);
        }
        return texts;
    });
    CHECK(child.answer == "wrong;wrong;");
}

}  // namespace pinwarden
