// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/loss_scaler.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string_view>
#include <vector>

namespace zero = pinwarden::zero;

namespace {

/// The scale after each step; `x` is a step with overflow, `.` one without.
std::vector<double> scales(zero::LossScaler scaler, std::string_view steps) {
    std::vector<double> scales;
    for (const char step : steps) {
        scaler.update_scale(step == 'x');
        scales.push_back(scaler.loss_scale());
    }
    return scales;
}

using Scales = std::vector<double>;

}  // namespace

TEST_CASE("a scaler without options multiplies by one for ever", "[zero]") {
    zero::LossScaler scaler;
    CHECK_FALSE(scaler.is_dynamic());
    CHECK(scales(scaler, "x.x.") == Scales{1, 1, 1, 1});
}

TEST_CASE("a static scale stays, whatever overflows", "[zero]") {
    const zero::LossScaler scaler{{.loss_scale = 128.0, .loss_scale_window = 1, .hysteresis = 1}};
    CHECK_FALSE(scaler.is_dynamic());
    CHECK(scales(scaler, "xxx....") == Scales(7, 128.0));
}

TEST_CASE("the dynamic scale starts at two to the initial power", "[zero]") {
    CHECK(zero::LossScaler{{}}.loss_scale() == 65536.0);
    CHECK(zero::LossScaler{{.initial_scale_power = 32}}.loss_scale() == 4294967296.0);
    CHECK(zero::LossScaler{{.initial_scale_power = 0}}.loss_scale() == 1.0);
    CHECK(zero::LossScaler{{}}.is_dynamic());
}

TEST_CASE("with a hysteresis of one every overflow halves the scale", "[zero]") {
    const zero::LossScaler scaler{{.initial_scale_power = 4, .hysteresis = 1}};
    CHECK(scales(scaler, "x.xx") == Scales{8, 8, 4, 2});
}

TEST_CASE("the hysteresis lets overflows pass once, and is used up for good until a window passes",
          "[zero]") {
    const zero::LossScaler scaler{{.initial_scale_power = 4, .hysteresis = 3}};
    CHECK(scales(scaler, "xx.x.x") == Scales{16, 16, 16, 8, 8, 4});
}

TEST_CASE("a consecutive hysteresis is restored by each step without overflow", "[zero]") {
    const zero::LossScaler scaler{
        {.initial_scale_power = 4, .hysteresis = 2, .consecutive_hysteresis = true}};
    CHECK(scales(scaler, "x.x.xxx") == Scales{16, 16, 16, 16, 16, 8, 4});
}

TEST_CASE("the scale doubles after each window without overflow, which also restores the hysteresis",
          "[zero]") {
    const zero::LossScaler scaler{{.initial_scale_power = 4, .loss_scale_window = 2, .hysteresis = 2}};
    // As in DeepSpeed, the window is counted from the last overflow, or from just before the first step; a
    // window is full at the step *after* its last.
    CHECK(scales(scaler, "...") == Scales{16, 16, 32});
    CHECK(scales(scaler, ".....") == Scales{16, 16, 32, 32, 64});
    CHECK(scales(scaler, "x....x.x") == Scales{16, 16, 16, 32, 32, 32, 32, 16});
}

TEST_CASE("a window of one step doubles the scale from the second step on", "[zero]") {
    const zero::LossScaler scaler{{.initial_scale_power = 0, .loss_scale_window = 1}};
    CHECK(scales(scaler, "....") == Scales{1, 2, 4, 8});
}

TEST_CASE("the scale is never halved below its minimum, and an overflow there is an error", "[zero]") {
    zero::LossScaler scaler{{.initial_scale_power = 2, .hysteresis = 1, .min_loss_scale = 3.0}};
    scaler.update_scale(true);
    CHECK(scaler.loss_scale() == 3.0);
    const zero::LossScaler before = scaler;
    CHECK_THROWS_MATCHES(
        scaler.update_scale(true), zero::LossScaleError,
        Catch::Matchers::MessageMatches(Catch::Matchers::ContainsSubstring("min_loss_scale = 3")));
    CHECK(scaler == before);
    CHECK_NOTHROW(scaler.update_scale(false));
}

TEST_CASE("the scale stops growing at the largest power of two of fp32", "[zero]") {
    const zero::LossScaler scaler{{.initial_scale_power = 126, .loss_scale_window = 1}};
    CHECK(scales(scaler, "....") == Scales{0x1p126, 0x1p127, 0x1p127, 0x1p127});
}

TEST_CASE("a copy of a scaler is a snapshot", "[zero]") {
    zero::LossScaler scaler{{.initial_scale_power = 4, .loss_scale_window = 2, .hysteresis = 1}};
    scaler.update_scale(false);
    const zero::LossScaler snapshot = scaler;
    scaler.update_scale(true);
    CHECK_FALSE(scaler == snapshot);
    CHECK(scales(snapshot, "..") == Scales{16, 32});
}
