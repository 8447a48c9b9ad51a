// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/audit/stacks.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>

#include <support/failing_new.hpp>
#include <support/own_pages.hpp>

namespace pinwarden::audit {

namespace {

using Buffer = PinnedBuffer<int>;
using Catch::Matchers::ContainsSubstring;

/// Keeps so many frames for one test.
class Frames {
public:
    explicit Frames(std::size_t frames) { set_stack_frames(frames); }
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;
    ~Frames() { set_stack_frames(0); }
};

const std::shared_ptr<ScriptedBackend>& backend() {
    static const auto scripted = std::make_shared<ScriptedBackend>();
    return scripted;
}

[[gnu::noinline]] Buffer pin_in_the_depth() {
    Buffer buffer(10, {.backend = backend(), .label = "deep"});
    buffer.span()[0] = 1;
    return buffer;
}

[[gnu::noinline]] Buffer call_the_depth() {
    Buffer buffer = pin_in_the_depth();
    buffer.span()[1] = 2;
    return buffer;
}

PinRecord record_of(const Buffer& buffer) { return Registry::instance().find(buffer.data()).value(); }

nlohmann::json pin_in_json(const std::string& label) {
    const auto document = nlohmann::json::parse(to_json(LeakReport::of_process()));
    for (const auto& pin : document.at("pins")) {
        if (pin.at("label") == label) return pin;
    }
    return {};
}

}  // namespace

TEST_CASE("No stack is kept unless it is asked for, and none takes no memory", "[audit]") {
    CHECK(stack_frames() == 0);
    const auto allocations_of_a_pin = [] {
        const std::size_t before = testing::allocations_of_this_thread();
        const Buffer buffer(10, {.backend = backend()});
        return testing::allocations_of_this_thread() - before;
    };
    CHECK(record_of(call_the_depth()).stack.empty());
    for (int warming = 0; warming < 100; ++warming) static_cast<void>(allocations_of_a_pin());
    // What is left is the backend's own.
    const auto least_of_many = [&] {
        std::size_t least = allocations_of_a_pin();
        for (int again = 0; again < 20; ++again) least = std::min(least, allocations_of_a_pin());
        return least;
    };
    const std::size_t without = least_of_many();
    const Frames frames(8);
    CHECK(least_of_many() == without + 1);
}

TEST_CASE("A stack holds the innermost calls, as many as asked for", "[audit]") {
    const std::size_t wanted = GENERATE(1U, 2U, 5U);
    const Frames frames(wanted);
    CHECK(stack_frames() == wanted);
    const Buffer buffer = call_the_depth();
    CHECK(record_of(buffer).stack.size() == wanted);
    const Buffer same = call_the_depth();
    CHECK(record_of(same).stack.at(0) == record_of(buffer).stack.at(0));
}

TEST_CASE("More frames than can be kept are as many as can", "[audit]") {
    const Frames frames(1000);
    CHECK(stack_frames() == most_stack_frames);
}

TEST_CASE("The report names the functions and, where it can be found out, the source lines", "[audit]") {
    const Frames frames(16);
    const Buffer buffer = call_the_depth();
    const auto stack = pin_in_json("deep").at("stack");
    std::size_t depth = stack.size();
    std::size_t caller = stack.size();
    for (std::size_t index = 0; index < stack.size(); ++index) {
        const auto function = stack[index].at("function").get<std::string>();
        if (function.find("pin_in_the_depth") != std::string::npos) depth = index;
        if (function.find("call_the_depth") != std::string::npos) caller = index;
    }
#if defined(PINWARDEN_TEST_LIBDW)
    REQUIRE(depth < stack.size());
    CHECK(caller == depth + 1);
    CHECK_THAT(stack[depth].at("file").get<std::string>(), ContainsSubstring("stacks_test.cpp"));
    CHECK(stack[depth].at("line") == record_of(buffer).site.line());
#else
    CHECK(depth == caller);
    CHECK_THAT(stack[0].at("module").get<std::string>(), ContainsSubstring("unit_audit"));
#endif
    // Nothing of the library's inside comes before the caller's constructor.
    CHECK_THAT(stack[0].at("function").get<std::string>(), !ContainsSubstring("capture"));
    CHECK_THAT(to_text(LeakReport::of_process()), ContainsSubstring("\n    by "));
}

TEST_CASE("A registration keeps its stack as well", "[audit]") {
    const Frames frames(4);
    testing::OwnPages pages(1);
    const PinnedRegistration registration(pages.bytes_at(0, pages.bytes()),
                                          {.backend = backend(), .label = "registered"});
    CHECK(pin_in_json("registered").at("stack").size() >= 4);
}

TEST_CASE("Without memory for its stack a pin is made all the same", "[audit]") {
    const Frames frames(4);
    const Buffer warm = call_the_depth();
    std::size_t pinned_without_stack = 0;
    for (std::size_t nth = 1; nth < 20; ++nth) {
        const testing::FailingNew failing(nth);
        try {
            const Buffer buffer(10, {.backend = backend()});
            if (failing.failed()) ++pinned_without_stack;
        } catch (const std::bad_alloc&) {
        } catch (const PinError&) {  // the backend's own memory
        }
    }
    CHECK(pinned_without_stack >= 1);
}

}  // namespace pinwarden::audit
