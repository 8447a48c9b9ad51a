// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>
#include <support/rank_check.hpp>

// The matrix over ranks: every stage, with and without secondary shards and static offload, on 1, 2 and 4
// ranks, each engine in the middle of an accumulation, against a run that never offloads.

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::OffloadState;
using zero::OffloadStates;
using zero::StateLocation;

namespace {

enum class AtHome { device, optimizer_pinned, optimizer_pageable, all_pinned, all_pageable };

// What one engine is; a run of it without offloads is the reference for all ways to offload.
struct Kind {
    std::int64_t stage;
    std::size_t ranks;
    std::size_t node;
    AtHome at_home;

    friend auto operator<=>(const Kind&, const Kind&) = default;

    [[nodiscard]] bool optimizer_on_host() const { return at_home != AtHome::device; }
    [[nodiscard]] bool parameters_on_host() const {
        return at_home == AtHome::all_pinned || at_home == AtHome::all_pageable;
    }
    [[nodiscard]] bool pins_at_home() const {
        return at_home == AtHome::optimizer_pinned || at_home == AtHome::all_pinned;
    }
    [[nodiscard]] bool on_host(OffloadState state) const {
        if (state == OffloadState::lp_params) return parameters_on_host();
        return optimizer_on_host() &&
               (state == OffloadState::hp_params || state == OffloadState::optim_states);
    }
    [[nodiscard]] zero::Config config() const {
        zero::Config config;
        config.gradient_accumulation_steps = 2;
        config.gradient_clipping = 1.0;
        config.optimizer.weight_decay = 0.01;
        auto& zero = config.zero_optimization;
        zero.stage = stage;
        zero.reduce_bucket_size = 1'000;
        zero.sub_group_size = 700;
        zero.zero_hpz_partition_size = node;
        if (optimizer_on_host()) {
            zero.offload_optimizer = {.device = zero::OffloadDevice::cpu, .pin_memory = pins_at_home()};
        }
        if (parameters_on_host()) {
            zero.offload_param = {.device = zero::OffloadDevice::cpu, .pin_memory = pins_at_home()};
        }
        return config;
    }
    [[nodiscard]] std::string text() const {
        return "stage " + std::to_string(stage) + ", " + std::to_string(ranks) + " rank(s), nodes of " +
               std::to_string(node) + ", home " + std::to_string(static_cast<int>(at_home));
    }
};

std::vector<Kind> all_kinds() {
    std::vector<Kind> kinds;
    for (const std::size_t ranks : {1U, 2U, 4U}) {
        for (const std::int64_t stage : {1, 2, 3}) {
            for (const std::size_t node : {1U, 2U}) {
                if (node > 1 && (stage != 3 || ranks == 1)) continue;
                for (const auto at_home :
                     {AtHome::device, AtHome::optimizer_pinned, AtHome::optimizer_pageable,
                      AtHome::all_pinned, AtHome::all_pageable}) {
                    const Kind kind{stage, ranks, node, at_home};
                    if (kind.parameters_on_host() && stage != 3) continue;
                    kinds.push_back(kind);
                }
            }
        }
    }
    return kinds;
}

const LeastSquares model;

// One rank's engine with its device.
struct Subject {
    Subject(const Kind& which, const zero::CommunicatorPtr& ranks)
        : kind(which),
          rank(ranks->rank()),
          engine(which.config(), accelerator, model.groups(),
                 {.backend = native_backend(),
                  .name = "rank " + std::to_string(ranks->rank()),
                  .communicator = ranks}) {
        for (std::size_t i = 0; i < 3; ++i) {
            engine.backward(model.micro_batch(i * kind.ranks + rank));
            engine.step();
        }
        contents = contents_of(engine);
    }

    void finish_the_step() {
        engine.backward(model.micro_batch(3 * kind.ranks + rank));
        ensure(engine.step().applied);
        engine.backward(model.micro_batch(4 * kind.ranks + rank));
        contents = contents_of(engine);
    }

    // Everything that must hold after the given states went to the host as they were asked to.
    void check(OffloadStates offloaded, Pinning pinning) const {
        for (const auto state : zero::all_offload_states) {
            const bool at_home = kind.on_host(state);
            const bool moved = offloaded.contains(state) && !at_home;
            const std::string about = std::string(to_string(state)) + " of " + kind.text();
            ensure((engine.location(state) == StateLocation::host) == (moved || at_home), about);
            // A bucket without content takes no host memory; a shard without elements none either.
            const bool empty = engine.size_bytes(state) == 0 ||
                               (state == OffloadState::contiguous_grad_buffer && kind.stage == 3);
            const bool pinned = moved ? pinning == Pinning::pinned : at_home && kind.pins_at_home();
            ensure(engine.is_pinned(state) == (pinned && !empty), about);
        }
        ensure(contents_of(engine) == contents, kind.text());
    }

    void require_nothing_held() {
        engine.destroy();
        engine.destroy();
        ensure(live_pins_of("rank " + std::to_string(rank)) == audit::Tally{}, kind.text());
        ensure(accelerator->memory().in_use == 0, kind.text());
    }

    Kind kind;
    std::size_t rank;
    AcceleratorPtr accelerator = make_cpu_accelerator();
    zero::Engine engine;
    StateContents contents;
};

// The states of each rank after the step that follows, without any offload.
const std::vector<StateContents>& reference(const Kind& kind) {
    static std::map<Kind, std::vector<StateContents>> known;
    auto& contents = known[kind];
    if (contents.empty()) {
        contents.resize(kind.ranks);
        zero::run_ranks(kind.ranks, [&](const zero::CommunicatorPtr& ranks) {
            Subject subject(kind, ranks);
            subject.finish_the_step();
            contents[subject.rank] = subject.contents;
        });
    }
    return contents;
}

std::vector<OffloadStates> subsets() {
    std::vector<OffloadStates> all(zero::all_offload_states.begin(), zero::all_offload_states.end());
    all.push_back(OffloadStates::all());
    return all;
}

// Runs `sequence` for every kind, set of states and way to move them, on all ranks at once.
template <typename Sequence>
void for_every_case(Sequence sequence) {
    for (const Kind& kind : all_kinds()) {
        const auto& expected = reference(kind);
        for (const auto include : subsets()) {
            for (const auto pinning : {Pinning::pinned, Pinning::pageable}) {
                for (const bool non_blocking : {false, true}) {
                    CAPTURE(kind.text(), to_string(include), pinning == Pinning::pinned, non_blocking);
                    const std::size_t locked = kernel_locked_bytes();
                    const std::size_t registered = registry_locked_bytes();
                    zero::run_ranks(kind.ranks, [&](const zero::CommunicatorPtr& ranks) {
                        Subject subject(kind, ranks);
                        sequence(subject, include, pinning, non_blocking, expected);
                        subject.require_nothing_held();
                    });
                    REQUIRE(registry_locked_bytes() == registered);
                    REQUIRE(kernel_locked_bytes() == locked);
                    REQUIRE(audit::Registry::instance().counts().in_flight == audit::Tally{});
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("On every stage and number of ranks, what was offloaded and reloaded trains on to the same bits") {
    for_every_case([](Subject& subject, OffloadStates include, Pinning pinning, bool non_blocking,
                      const std::vector<StateContents>& expected) {
        subject.engine.offload_states(include, pinning, non_blocking);
        subject.check(include, pinning);
        subject.engine.reload_states(non_blocking);
        subject.check({}, pinning);
        subject.finish_the_step();
        ensure(subject.contents == expected[subject.rank], subject.kind.text());
    });
}

TEST_CASE("On every stage and number of ranks, an engine destroyed with offloaded states holds no pin") {
    for_every_case([](Subject& subject, OffloadStates include, Pinning pinning, bool non_blocking,
                      const std::vector<StateContents>&) {
        subject.engine.offload_states(include, pinning, non_blocking);
        const OffloadStates second{OffloadState::hp_params, OffloadState::lp_grads};
        subject.engine.offload_states(second, Pinning::pinned, true);
    });
}

TEST_CASE("Secondary shards and offloaded parameters are pinned as the parameters are asked to be") {
    for (const auto at_home : {AtHome::all_pinned, AtHome::all_pageable, AtHome::device}) {
        const Kind kind{3, 4, 2, at_home};
        zero::run_ranks(4, [&](const zero::CommunicatorPtr& ranks) {
            Subject subject(kind, ranks);
            std::size_t secondary = 0;
            std::size_t parameters = 0;
            for (const auto& record : audit::Registry::instance().snapshot()) {
                if (record.scope != "rank " + std::to_string(subject.rank)) continue;
                if (record.label == "secondary_shards") ++secondary;
                if (record.label == "lp_params/flat") ++parameters;
            }
            ensure((secondary == 1) == kind.pins_at_home());
            // A rank whose shard is empty pins nothing; here none is.
            ensure((parameters == 1) == kind.pins_at_home());
            ranks->barrier();
        });
    }
}
