// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/process_memory.hpp>
#include <pinwarden/zero/engine.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>

// The matrix: every way to offload, on an engine in the middle of an accumulation, against a run that never
// offloads.

using namespace pinwarden;
using namespace pinwarden::testing;
using zero::OffloadState;
using zero::OffloadStates;
using zero::StateLocation;

namespace {

enum class StaticOffload { none, pinned, pageable };
enum class BackendKind { native, scripted };

struct Case {
    std::int64_t stage;
    OffloadStates include;
    Pinning pinning;
    bool non_blocking;
    StaticOffload at_home;
    BackendKind backend;

    [[nodiscard]] std::string text() const {
        return "stage " + std::to_string(stage) + ", include " + to_string(include) +
               (pinning == Pinning::pinned ? ", pinned" : ", pageable") +
               (non_blocking ? ", non-blocking" : ", blocking") + ", static offload " +
               (at_home == StaticOffload::none     ? "none"
                : at_home == StaticOffload::pinned ? "pinned"
                                                   : "pageable") +
               (backend == BackendKind::native ? ", native" : ", scripted");
    }
};

// All rows of the matrix but the sequence of calls, which each test case below walks through.
std::vector<Case> all_cases() {
    std::vector<OffloadStates> subsets(zero::all_offload_states.begin(), zero::all_offload_states.end());
    subsets.push_back(OffloadStates::all());
    std::vector<Case> cases;
    for (const std::int64_t stage : {1, 2}) {
        for (const auto include : subsets) {
            for (const auto pinning : {Pinning::pinned, Pinning::pageable}) {
                for (const bool non_blocking : {false, true}) {
                    for (const auto at_home :
                         {StaticOffload::none, StaticOffload::pinned, StaticOffload::pageable}) {
                        for (const auto backend : {BackendKind::native, BackendKind::scripted}) {
                            cases.push_back({stage, include, pinning, non_blocking, at_home, backend});
                        }
                    }
                }
            }
        }
    }
    return cases;
}

zero::Config config_for(std::int64_t stage, StaticOffload at_home) {
    zero::Config config;
    config.gradient_accumulation_steps = 2;
    config.gradient_clipping = 1.0;
    config.optimizer.weight_decay = 0.01;
    config.zero_optimization.stage = stage;
    config.zero_optimization.reduce_bucket_size = 1'000;  // less than the matrix, more than the biases
    config.zero_optimization.sub_group_size = 700;
    if (at_home != StaticOffload::none) {
        config.zero_optimization.offload_optimizer = {.device = zero::OffloadDevice::cpu,
                                                      .pin_memory = at_home == StaticOffload::pinned};
    }
    return config;
}

void train_into_the_middle(zero::Engine& engine, const LeastSquares& model) {
    for (std::size_t i = 0; i < 3; ++i) {
        engine.backward(model.micro_batch(i));
        engine.step();
    }
}

void finish_the_step(zero::Engine& engine, const LeastSquares& model) {
    engine.backward(model.micro_batch(3));
    REQUIRE(engine.step().applied);
}

// The states after the step that follows, of an engine that never offloaded anything.
const StateContents& contents_without_offload(std::int64_t stage, StaticOffload at_home) {
    static std::array<StateContents, 6> known;
    auto& contents = known.at(static_cast<std::size_t>((stage - 1) * 3 + static_cast<int>(at_home)));
    if (contents[0].empty()) {
        const LeastSquares model;
        zero::Engine engine(config_for(stage, at_home), make_cpu_accelerator(), model.groups());
        train_into_the_middle(engine, model);
        finish_the_step(engine, model);
        contents = contents_of(engine);
    }
    return contents;
}

// One engine, its device, and everything that must hold at any time.
class Subject {
public:
    explicit Subject(const Case& row)
        : row_(row),
          expected_(contents_without_offload(row.stage, row.at_home)),
          locked_at_start_(kernel_locked_bytes()),
          registered_at_start_(registry_locked_bytes()),
          scripted_(row.backend == BackendKind::scripted ? std::make_shared<ScriptedBackend>() : nullptr),
          engine_(config_for(row.stage, row.at_home), accelerator_, model_.groups(),
                  {.backend = scripted_ != nullptr ? scripted_ : native_backend(), .name = "subject"}) {
        train_into_the_middle(engine_, model_);
        before_ = contents_of(engine_);
        is_pinned_.fill(false);
        for (std::size_t i = 0; i < is_pinned_.size(); ++i) {
            is_pinned_[i] = at_home_on_host(i) && row.at_home == StaticOffload::pinned;
            on_host_[i] = at_home_on_host(i);
        }
        check();
    }

    void offload(OffloadStates include, Pinning pinning) {
        engine_.offload_states(include, pinning, row_.non_blocking);
        for (std::size_t i = 0; i < on_host_.size(); ++i) {
            if (!include.contains(zero::all_offload_states[i]) || on_host_[i]) continue;
            on_host_[i] = true;
            is_pinned_[i] = pinning == Pinning::pinned;
        }
        check();
    }

    void reload() {
        engine_.reload_states(row_.non_blocking);
        for (std::size_t i = 0; i < on_host_.size(); ++i) {
            if (at_home_on_host(i)) continue;
            on_host_[i] = false;
            is_pinned_[i] = false;
        }
        check();
    }

    // The step that an engine without offloads takes, with its very bits.
    void step() {
        finish_the_step(engine_, model_);
        before_ = contents_of(engine_);
        REQUIRE(before_ == expected_);
    }

    void require_that_offloaded_states_stop_training() {
        bool needed_for_backward = false;
        for (const auto state :
             {OffloadState::lp_params, OffloadState::lp_grads, OffloadState::contiguous_grad_buffer}) {
            needed_for_backward = needed_for_backward || engine_.location(state) == StateLocation::host;
        }
        if (needed_for_backward)
            REQUIRE_THROWS_AS(engine_.backward(model_.micro_batch(3)), zero::EngineError);
    }

    void destroy() {
        engine_.destroy();
        REQUIRE(live_pins_of("subject") == audit::Tally{});
        REQUIRE(audit::Registry::instance().counts().in_flight == audit::Tally{});
        REQUIRE(registry_locked_bytes() == registered_at_start_);
        REQUIRE(kernel_locked_bytes() == locked_at_start_);
        REQUIRE(accelerator_->memory().in_use == 0);
        if (scripted_ != nullptr) REQUIRE(scripted_->outstanding().empty());
    }

    void check() {
        std::size_t pinned_bytes = 0;
        for (std::size_t i = 0; i < on_host_.size(); ++i) {
            const auto state = zero::all_offload_states[i];
            REQUIRE(engine_.location(state) == (on_host_[i] ? StateLocation::host : StateLocation::device));
            REQUIRE(engine_.is_pinned(state) == is_pinned_[i]);
            if (is_pinned_[i]) pinned_bytes += engine_.size_bytes(state);
        }
        // The ways between model, device and the host's optimizer: gradients to the device and from there to
        // the optimizer, new parameters back.
        if (row_.at_home == StaticOffload::pinned)
            pinned_bytes += 3 * LeastSquares::parameter_count * sizeof(zero::Bf16);
        REQUIRE(live_pins_of("subject").bytes == pinned_bytes);
        REQUIRE(contents_of(engine_) == before_);
        REQUIRE(eventually([&] { return accelerator_->memory().in_use == device_bytes_of(engine_); }));
        REQUIRE(
            eventually([&] { return registry_locked_bytes() - registered_at_start_ == expected_locked(); }));
        if (row_.backend == BackendKind::native) {
            REQUIRE(kernel_locked_bytes() - locked_at_start_ ==
                    registry_locked_bytes() - registered_at_start_);
        } else {
            REQUIRE(kernel_locked_bytes() == locked_at_start_);
        }
    }

private:
    [[nodiscard]] static std::size_t expected_locked() { return live_pins_of("subject").locked_bytes; }

    [[nodiscard]] bool at_home_on_host(std::size_t index) const {
        const auto state = zero::all_offload_states[index];
        return row_.at_home != StaticOffload::none &&
               (state == OffloadState::hp_params || state == OffloadState::optim_states);
    }

    Case row_;
    const StateContents& expected_;
    std::size_t locked_at_start_;
    std::size_t registered_at_start_;
    LeastSquares model_;
    AcceleratorPtr accelerator_ = make_cpu_accelerator();
    std::shared_ptr<ScriptedBackend> scripted_;
    zero::Engine engine_;
    StateContents before_;
    std::array<bool, zero::all_offload_states.size()> on_host_{};
    std::array<bool, zero::all_offload_states.size()> is_pinned_{};
};

template <typename Sequence>
void for_every_case(Sequence sequence) {
    const auto cases = all_cases();
    REQUIRE(cases.size() == 2 * 6 * 2 * 2 * 3 * 2);
    for (const auto& row : cases) {
        CAPTURE(row.text());
        Subject subject(row);
        sequence(subject, row);
        subject.destroy();
        subject.destroy();
    }
}

Pinning other(Pinning pinning) { return pinning == Pinning::pinned ? Pinning::pageable : Pinning::pinned; }

}  // namespace

TEST_CASE("The reference of the matrix is the same for both stages and wherever the optimizer runs") {
    const auto& reference = contents_without_offload(2, StaticOffload::none);
    for (const std::int64_t stage : {1, 2}) {
        for (const auto at_home : {StaticOffload::none, StaticOffload::pinned, StaticOffload::pageable}) {
            auto contents = contents_without_offload(stage, at_home);
            // What is left in the bucket depends on the way that gradients took; everything else does not.
            contents.back() = reference.back();
            REQUIRE(contents == reference);
        }
    }
}

TEST_CASE("States that were offloaded and reloaded train on as if nothing had happened") {
    for_every_case([](Subject& subject, const Case& row) {
        subject.offload(row.include, row.pinning);
        subject.reload();
        subject.step();
    });
}

TEST_CASE("An engine destroyed with offloaded states holds no pin") {
    for_every_case([](Subject& subject, const Case& row) {
        subject.offload(row.include, row.pinning);
        subject.require_that_offloaded_states_stop_training();
    });
}

TEST_CASE("A second subset can be offloaded on top of the first") {
    for_every_case([](Subject& subject, const Case& row) {
        const OffloadStates second{OffloadState::hp_params, OffloadState::lp_grads};
        subject.offload(row.include, row.pinning);
        subject.offload(second, other(row.pinning));
        subject.reload();
        subject.step();
        subject.offload(row.include, row.pinning);
        subject.offload(second, other(row.pinning));
    });
}

TEST_CASE("States can be offloaded again after they were reloaded, and offloading twice changes nothing") {
    for_every_case([](Subject& subject, const Case& row) {
        subject.offload(row.include, row.pinning);
        subject.reload();
        subject.reload();
        subject.offload(row.include, row.pinning);
        subject.offload(row.include, other(row.pinning));
        subject.reload();
        subject.step();
        subject.offload(row.include, row.pinning);
    });
}
