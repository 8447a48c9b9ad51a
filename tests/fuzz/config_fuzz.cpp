// SPDX-License-Identifier: Apache-2.0
// Any text is either read as a configuration or refused with a text that names its origin; it never does anything else.
#include <pinwarden/core/error.hpp>
#include <pinwarden/zero/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const pinwarden::zero::Config config = pinwarden::zero::read_config_text(text, "input.json");
        // What was accepted can be used: these are divided by, and allocated.
        if (config.train_batch_size < 1 || config.train_micro_batch_size_per_gpu < 1) std::abort();
        if (config.gradient_accumulation_steps < 1 || config.zero_optimization.sub_group_size == 0) std::abort();
        if (pinwarden::zero::read_config_text(text, "input.json") != config) std::abort();
    } catch (const pinwarden::ConfigurationError& error) {
        if (std::string_view(error.what()).find("input.json") == std::string_view::npos) std::abort();
    }
    return 0;
}
