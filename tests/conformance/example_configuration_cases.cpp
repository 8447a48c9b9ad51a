// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <pinwarden/accelerator/cpu_accelerator.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/zero/config.hpp>
#include <pinwarden/zero/config_fields.hpp>
#include <pinwarden/zero/engine.hpp>
#include <pinwarden/zero/thread_ranks.hpp>

#include <support/engine_states.hpp>
#include <support/least_squares.hpp>
#include <support/rank_check.hpp>

// The configuration files of docs/examples: accepted and honoured field by field, or refused by an error that
// says why; none ignored.

using namespace pinwarden;
using namespace pinwarden::testing;
using nlohmann::json;
using zero::Config;
using zero::FieldTreatment;
using zero::OffloadState;
using zero::StateLocation;

namespace {

const std::filesystem::path examples = PINWARDEN_EXAMPLES;

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

json parsed(const std::filesystem::path& path) {
    std::ifstream stream(path);
    return json::parse(stream);
}

// Calls `function(path of the field, value)` for each field that is no section.
void for_each_field(const json& object, const std::string& section,
                    const std::function<void(const std::string&, const json&)>& function) {
    for (const auto& [name, value] : object.items()) {
        const std::string path = section.empty() ? name : section + "." + name;
        if (value.is_object()) {
            for_each_field(value, path, function);
        } else {
            function(path, value);
        }
    }
}

json device_name(zero::OffloadDevice device) { return device == zero::OffloadDevice::cpu ? "cpu" : "none"; }

// What a configuration that was read says of each field that the examples set and that is honoured.
std::map<std::string, json> answers_of(const Config& config) {
    const auto& zero = config.zero_optimization;
    const auto& scheduler = config.scheduler;
    return {
        {"train_batch_size", config.train_batch_size},
        {"train_micro_batch_size_per_gpu", config.train_micro_batch_size_per_gpu},
        {"gradient_accumulation_steps", config.gradient_accumulation_steps},
        {"steps_per_print", config.steps_per_print.value_or(0)},
        {"gradient_clipping", config.gradient_clipping},
        {"bf16.enabled", config.low_precision == zero::LowPrecision::bf16},
        {"fp16.enabled", config.low_precision == zero::LowPrecision::fp16},
        {"fp16.loss_scale", config.fp16.loss_scale},
        {"fp16.initial_scale_power", config.fp16.initial_scale_power},
        {"fp16.loss_scale_window", config.fp16.loss_scale_window},
        {"fp16.hysteresis", config.fp16.hysteresis},
        {"fp16.consecutive_hysteresis", config.fp16.consecutive_hysteresis},
        {"fp16.min_loss_scale", config.fp16.min_loss_scale},
        {"optimizer.params.lr", config.optimizer.learning_rate},
        {"optimizer.params.betas", json::array({config.optimizer.beta1, config.optimizer.beta2})},
        {"optimizer.params.eps", config.optimizer.eps},
        {"optimizer.params.weight_decay", config.optimizer.weight_decay},
        {"scheduler.params.warmup_min_lr", scheduler.warmup_min_lr},
        {"scheduler.params.warmup_max_lr", scheduler.warmup_max_lr.value_or(-1.0)},
        {"scheduler.params.warmup_num_steps", scheduler.warmup_num_steps},
        {"scheduler.params.warmup_type",
         scheduler.warmup_type == zero::WarmupType::linear ? "linear" : "log"},
        {"scheduler.params.total_num_steps", scheduler.total_num_steps},
        {"zero_optimization.stage", zero.stage},
        {"zero_optimization.reduce_bucket_size", zero.reduce_bucket_size},
        {"zero_optimization.sub_group_size", zero.sub_group_size},
        {"zero_optimization.zero_hpz_partition_size", zero.zero_hpz_partition_size},
        {"zero_optimization.offload_optimizer.device", device_name(zero.offload_optimizer.device)},
        {"zero_optimization.offload_optimizer.pin_memory", zero.offload_optimizer.pin_memory},
        {"zero_optimization.offload_optimizer.super_offload", zero.offload_optimizer.super_offload},
        {"zero_optimization.offload_optimizer.cpuadam_cores_perc", zero.offload_optimizer.cpuadam_cores_perc},
        {"zero_optimization.offload_param.device", device_name(zero.offload_param.device)},
        {"zero_optimization.offload_param.pin_memory", zero.offload_param.pin_memory},
    };
}

// As many ranks as the file needs at least.
std::size_t ranks_for(const json& file) {
    return file["zero_optimization"].value("zero_hpz_partition_size", 1U);
}

const LeastSquares model;

void require_home_of_states(const zero::Engine& engine) {
    const auto& zero = engine.config().zero_optimization;
    for (const auto state : zero::all_offload_states) {
        const bool of_optimizer = state == OffloadState::hp_params || state == OffloadState::optim_states;
        const bool on_host =
            (of_optimizer && zero.offload_optimizer.device == zero::OffloadDevice::cpu) ||
            (state == OffloadState::lp_params && zero.offload_param.device == zero::OffloadDevice::cpu);
        const bool pin = of_optimizer ? zero.offload_optimizer.pin_memory : zero.offload_param.pin_memory;
        ensure((engine.location(state) == StateLocation::host) == on_host, std::string(to_string(state)));
        ensure(engine.is_pinned(state) == (on_host && pin), std::string(to_string(state)));
    }
}

// Trains as the file says on one rank of the group, and shows that it does.
void train(const Config& config, const zero::CommunicatorPtr& ranks) {
    std::atomic<std::size_t> ahead = 0;
    zero::EngineOptions options;
    options.name = "rank " + std::to_string(ranks->rank());
    options.communicator = ranks;
    options.super_offload.before_sub_group = [&](std::size_t) { ++ahead; };
    zero::Engine engine(config, make_cpu_accelerator(), model.groups(), options);
    require_home_of_states(engine);
    ensure(engine.loss_scale() == zero::LossScaler(config.low_precision == zero::LowPrecision::fp16
                                                       ? config.fp16
                                                       : zero::LossScaleOptions{.loss_scale = 1.0})
                                      .loss_scale());
    double first = 0.0;
    double last = 0.0;
    for (int step = 0; step < 150; ++step) {
        for (std::int64_t i = 0; i < config.gradient_accumulation_steps; ++i) {
            ensure(!engine.is_gradient_accumulation_boundary());
            last = engine.backward(model.micro_batch(ranks->rank()));
            if (step == 0 && i == 0) first = last;
        }
        engine.step();
    }
    ensure(last < first, "the loss falls");
    ensure((ahead > 0) == config.zero_optimization.offload_optimizer.super_offload);
    engine.offload_states();
    engine.reload_states();
    require_home_of_states(engine);
    engine.destroy();
    ensure(live_pins_of(options.name) == audit::Tally{});
}

struct Refusal {
    std::string file;
    std::vector<std::string> words;
};

const std::vector<Refusal> refusals{
    {"infinity_nvme.json", {"offload_optimizer.device: found \"nvme\"", "does not offer offload to NVMe"}},
    {"pin_backend_in_file.json", {"offload_optimizer.pin_memory_backend", "DS_PIN_MEMORY_BACKEND"}},
    {"super_offload_on_the_device.json",
     {"offload_optimizer.super_offload: found true", "device is not \"cpu\""}},
    {"trainer_auto.json", {"found \"auto\"", "Hugging Face Trainer"}},
    {"zeropp_quantized.json", {"zero_quantized_weights: found true; valid: false"}},
};

}  // namespace

TEST_CASE("There are at least twelve example configurations that are accepted") {
    REQUIRE(files_of(examples).size() >= 12);
}

TEST_CASE("Every field of an example configuration is honoured, or documented as one that changes nothing") {
    std::map<std::string, FieldTreatment> treatments;
    for (const auto& field : zero::config_fields()) treatments[field.path] = field.treatment;
    for (const auto& path : files_of(examples)) {
        CAPTURE(path);
        const json file = parsed(path);
        const Config config = zero::read_config_file(path, ranks_for(file));
        const auto answers = answers_of(config);
        for_each_field(file, "", [&](const std::string& field, const json& value) {
            CAPTURE(field, value);
            const auto answer = answers.find(field);
            if (answer != answers.end()) {
                CHECK(answer->second == value);
            } else if (field == "optimizer.type") {
                CHECK((value == "Adam" || value == "AdamW"));
                CHECK(
                    config.optimizer.adam_w_mode);  // DeepSpeed's Adam decouples weight decay too by default
            } else if (field == "scheduler.type") {
                CHECK((value == "WarmupLR") == (config.scheduler.type == zero::Scheduler::warmup_lr));
                CHECK((value == "WarmupDecayLR") ==
                      (config.scheduler.type == zero::Scheduler::warmup_decay_lr));
            } else {
                REQUIRE(treatments.contains(field));
                CHECK(treatments[field] != FieldTreatment::honoured);
                CHECK(treatments[field] != FieldTreatment::refused);
            }
        });
    }
}

TEST_CASE("Every example configuration trains as it says, with its states where it says") {
    for (const auto& path : files_of(examples)) {
        CAPTURE(path);
        const json file = parsed(path);
        const std::size_t least = ranks_for(file);
        for (const std::size_t ranks : {least, 2 * least}) {
            // A batch of so many for all ranks together need not divide into those of more.
            if (ranks != least && file.contains("train_batch_size")) continue;
            const Config config = zero::read_config_file(path, ranks);
            zero::run_ranks(ranks, [&](const zero::CommunicatorPtr& group) { train(config, group); });
        }
    }
}

TEST_CASE("Configurations of what the engine does not offer are refused with the reason") {
    const auto files = files_of(examples / "refused");
    REQUIRE(files.size() == refusals.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        CAPTURE(files[i]);
        REQUIRE(files[i].filename() == refusals[i].file);
        try {
            static_cast<void>(zero::read_config_file(files[i]));
            FAIL("accepted");
        } catch (const ConfigurationError& error) {
            const std::string text = error.what();
            CAPTURE(text);
            for (const auto& words : refusals[i].words) CHECK(text.find(words) != std::string::npos);
        }
    }
}
