// SPDX-License-Identifier: Apache-2.0
#include "old_way_engine.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/leak_report.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/zero/engine.hpp>

#include <support/least_squares.hpp>

using namespace pinwarden;
using namespace pinwarden::audit_cases;

namespace {

constexpr std::chrono::seconds deadline(1);

}  // namespace

TEST_CASE("The audit reports the four buffers that the old way forgets, with their source lines") {
    const auto flags = std::vector<OffloadFlags>{{false, false}, {true, false}, {false, true}};
    for (const auto& configured : flags) {
        const std::size_t locked_before = kernel_locked_bytes();
        {
            OldWayEngine engine(configured);
            const auto lines = engine.offload_states();
            engine.destroy();
            const auto report = engine.scope().close(deadline);

            REQUIRE_FALSE(report.is_clean());
            REQUIRE(report.counts.live == audit::Tally{4, 4 * buffer_bytes(), 4 * buffer_bytes()});
            REQUIRE(kernel_locked_bytes() - locked_before == 4 * buffer_bytes());
            REQUIRE(report.records.size() == 4);
            const std::vector<std::string> labels{"hp_params", "exp_avg", "exp_avg_sq", "lp_params"};
            const std::string text = to_text(report);
            CAPTURE(text);
            for (std::size_t i = 0; i < labels.size(); ++i) {
                const auto record = std::ranges::find(report.records, labels[i], &audit::PinRecord::label);
                REQUIRE(record != report.records.end());
                REQUIRE(record->site.line() == lines[i]);
                REQUIRE(std::string(record->site.file_name()).ends_with("old_way_engine.cpp"));
                REQUIRE(record->state == audit::PinState::live);
                REQUIRE(text.find("old_way_engine.cpp:" + std::to_string(lines[i])) != std::string::npos);
            }
            const audit::LeakError error(report);
            REQUIRE(std::string(error.what()).find("old_way_engine.cpp:" + std::to_string(lines[0])) !=
                    std::string::npos);
        }
        REQUIRE(kernel_locked_bytes() == locked_before);
    }
}

TEST_CASE("The old way is silent only where both flags of static offload happen to be set") {
    OldWayEngine engine({.cpu_offload = true, .cpu_offload_pin_memory = true});
    engine.offload_states();
    engine.destroy();
    REQUIRE(engine.scope().close(deadline).is_clean());
}

TEST_CASE("The corrected twin of the old way leaves nothing to report") {
    const std::size_t locked_before = kernel_locked_bytes();
    NewWayEngine engine;
    engine.offload_states();
    REQUIRE(engine.scope().report().counts.live.pins == 4);
    engine.destroy();
    const auto report = engine.scope().close(deadline);
    REQUIRE(report.is_clean());
    REQUIRE(report.records.empty());
    REQUIRE(kernel_locked_bytes() == locked_before);
}

TEST_CASE("Pins made by raw calls escape the registry, and the kernel's count gives them away") {
    const std::size_t locked_before = kernel_locked_bytes();
    const std::size_t registered_before = audit::Registry::instance().counts().locked_bytes();
    RawCallEngine engine({});
    engine.offload_states();
    engine.destroy();
    const auto report = audit::LeakReport::of_process();
    REQUIRE(report.counts.locked_bytes() == registered_before);
    REQUIRE(report.kernel_locked_bytes == locked_before + 4 * buffer_bytes());
    engine.release_what_destroy_forgot();
    REQUIRE(kernel_locked_bytes() == locked_before);
}

TEST_CASE("The real engine, offloaded and destroyed the way that the old one leaks, is clean") {
    const std::size_t locked_before = kernel_locked_bytes();
    const testing::LeastSquares model;
    zero::Engine engine({}, make_cpu_accelerator(), model.groups(), {.backend = native_backend()});
    engine.offload_states();
    REQUIRE(kernel_locked_bytes() > locked_before);
    engine.destroy();
    REQUIRE(kernel_locked_bytes() == locked_before);
    REQUIRE(audit::Registry::instance().counts().live.pins == 0);
}
