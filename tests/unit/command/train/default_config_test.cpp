// SPDX-License-Identifier: Apache-2.0
#include <command/file.hpp>
#include <command/train/default_config.hpp>

#include <pinwarden/zero/config.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden::command;

TEST_CASE("The built-in configuration is the example's text, byte for byte, and a valid ZeRO-2 file") {
    CHECK(std::string(default_config_text) ==
          read_file(PINWARDEN_EXAMPLES "/zero2.json", "the example", 100'000));
    const auto config = pinwarden::zero::read_config_text(default_config_text, default_config_origin);
    CHECK(config.zero_optimization.stage == 2);
    CHECK(config.zero_optimization.offload_optimizer.device == pinwarden::zero::OffloadDevice::none);
}
