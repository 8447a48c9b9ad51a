// SPDX-License-Identifier: Apache-2.0
#include <report/stored_report.hpp>

#include <cstdlib>
#include <memory>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>

#include <support/child_process.hpp>

namespace pinwarden::audit {

namespace {

// Names the process in a child that has `variable` and no other rank.
std::string name_with(const char* variable, const char* rank) {
    const testing::ChildResult child = testing::run_in_child([&] {
        for (const char* const other :
             {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}) {
            ::unsetenv(other);
        }
        ::setenv(variable, rank, 1);
        return name_of_this_process();
    });
    return child.answer;
}

}  // namespace

TEST_CASE("The stored form of a report holds what the report holds", "[report]") {
    const PinnedBuffer<int> buffer(10, {.backend = std::make_shared<ScriptedBackend>(), .label = "mine"});
    const LeakReport report = LeakReport::of_process();
    const StoredReport plain = stored(report);
    CHECK(plain.process == name_of_this_process());
    CHECK(plain.counts == report.counts);
    CHECK(plain.fallbacks == report.fallbacks);
    CHECK(plain.peak_locked_bytes == report.peak_locked_bytes);
    CHECK(plain.is_clean() == report.is_clean());
    REQUIRE(plain.pins.size() == report.records.size());
    for (std::size_t index = 0; index < plain.pins.size(); ++index) {
        const StoredPin& pin = plain.pins[index];
        const PinRecord& record = report.records[index];
        CHECK(pin.label == record.label);
        CHECK(pin.bytes == record.bytes);
        CHECK(pin.file == record.site.file_name());
        CHECK(pin.line == record.site.line());
        CHECK(pin.process.empty());
        CHECK(std::stoull(pin.address, nullptr, 16) == reinterpret_cast<std::uintptr_t>(record.address));
    }
}

TEST_CASE("A process is named by its number and host, and by its rank under a launcher", "[report]") {
    CHECK(name_of_this_process().find(std::to_string(::getpid()) + "@") != std::string::npos);
    CHECK(name_with("OMPI_COMM_WORLD_RANK", "3").starts_with("rank 3 ("));
    CHECK(name_with("SLURM_PROCID", "12").starts_with("rank 12 ("));
    CHECK_FALSE(name_with("RANK", "").starts_with("rank"));
}

}  // namespace pinwarden::audit
