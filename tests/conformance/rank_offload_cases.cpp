// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <conformance/rank_settings.hpp>
#include <support/engine_states.hpp>
#include <support/least_squares.hpp>
#include <support/rank_check.hpp>

// Offloads in the middle of long training, and destruction at every moment, on several ranks.

using namespace pinwarden;
using namespace pinwarden::testing;

TEST_CASE(
    "Two hundred steps with an offload and a reload every tenth give the losses of a run without, on ranks") {
    const LeastSquares model;
    for (const auto& setting : settings) {
        const std::size_t ranks = setting.node == 1 ? 2 : 4;
        CAPTURE(setting.stage, setting.optimizer_on_host, setting.parameters_on_host, setting.node);
        zero::run_ranks(ranks, [&](const zero::CommunicatorPtr& communicator) {
            const std::size_t rank = communicator->rank();
            const auto own = communicator->split(0);
            const auto config = config_of(setting, ranks, ranks);
            const auto accelerator = make_cpu_accelerator();
            zero::Engine plain(config, accelerator, model.groups(), {.name = "plain", .communicator = own});
            zero::Engine moved(config, accelerator, model.groups(),
                               {.name = "moved", .communicator = communicator});
            // Each rank moves other states, at the same steps.
            auto random = static_cast<std::uint32_t>(rank + 7);
            for (std::size_t step = 0; step < 200; ++step) {
                const auto batch = model.micro_batch(step * ranks + rank);
                ensure(moved.backward(batch) == plain.backward(batch));
                if (step % 10 == 0) {
                    random = random * 1'664'525U + 1'013'904'223U;
                    zero::OffloadStates subset;
                    for (const auto state : zero::all_offload_states) {
                        if (((random >> (16U + static_cast<unsigned>(state))) & 1U) != 0)
                            subset.insert(state);
                    }
                    const bool non_blocking = (random >> 24U) % 2 == 0;
                    moved.offload_states(
                        subset, (random >> 25U) % 2 == 0 ? Pinning::pinned : Pinning::pageable, non_blocking);
                    moved.reload_states(non_blocking);
                }
                moved.step();
                plain.step();
            }
            ensure(contents_of(moved) == contents_of(plain));
            moved.destroy();
            plain.destroy();
        });
    }
}

TEST_CASE("An engine of any stage is destroyed at any moment, and no pin is left") {
    const LeastSquares model;
    enum class Moment { at_once, in_a_step, offloaded, copies_in_flight, offload_refused, unwinding };
    for (const auto& setting : settings) {
        for (const auto moment : {Moment::at_once, Moment::in_a_step, Moment::offloaded,
                                  Moment::copies_in_flight, Moment::offload_refused, Moment::unwinding}) {
            CAPTURE(setting.stage, setting.optimizer_on_host, setting.node, static_cast<int>(moment));
            const auto before = audit::Registry::instance().counts();
            zero::run_ranks(4, [&](const zero::CommunicatorPtr& ranks) {
                const auto accelerator = make_cpu_accelerator();
                const auto backend = std::make_shared<ScriptedBackend>();
                try {
                    zero::Engine engine(config_of(setting, 4, 8), accelerator, model.groups(),
                                        {.backend = backend,
                                         .name = "rank " + std::to_string(ranks->rank()),
                                         .communicator = ranks});
                    if (moment != Moment::at_once) engine.backward(model.micro_batch(ranks->rank()));
                    if (moment == Moment::offloaded || moment == Moment::copies_in_flight)
                        engine.offload_states(zero::OffloadStates::all(), Pinning::pinned,
                                              moment == Moment::copies_in_flight);
                    if (moment == Moment::offload_refused) {
                        backend->fail_acquire(1);
                        ensure_throws<PinError>([&] { engine.offload_states(); }, "scripted");
                        backend->fail_acquire(0);
                    }
                    if (moment == Moment::unwinding) {
                        engine.offload_states(zero::OffloadStates::all(), Pinning::pinned, true);
                        throw std::runtime_error("unwinding");
                    }
                    engine.destroy();
                    engine.destroy();
                } catch (const std::runtime_error& error) {
                    if (std::string(error.what()) != "unwinding") throw;
                }
                ensure(backend->outstanding().empty());
                ensure(accelerator->memory().in_use == 0);
            });
            REQUIRE(audit::Registry::instance().counts() == before);
        }
    }
}
