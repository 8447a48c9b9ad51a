// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/config.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

namespace zero = pinwarden::zero;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

zero::Config read(std::string_view json) { return zero::read_config_text(json, "test.json"); }

/// A folder of its own for one test.
class Folder {
public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "pinwarden-config-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name, std::string_view content) const {
        const auto path = path_ / name;
        std::ofstream{path, std::ios::binary} << content;
        return path.string();
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

constexpr std::string_view smallest = R"({
    "train_batch_size": 8,
    "bf16": {"enabled": true},
    "optimizer": {"type": "AdamW"},
    "zero_optimization": {"stage": 2}
})";

}  // namespace

TEST_CASE("the smallest configuration takes DeepSpeed's defaults for the rest", "[zero]") {
    const zero::Config config = read(smallest);
    zero::Config expected;
    expected.train_batch_size = 8;
    expected.train_micro_batch_size_per_gpu = 8;
    CHECK(config == expected);
    CHECK(config.gradient_accumulation_steps == 1);
    CHECK(config.low_precision == zero::LowPrecision::bf16);
    CHECK(config.optimizer == zero::AdamOptions{1e-3, 0.9, 0.999, 1e-8, 0.0, true, true});
    CHECK(config.scheduler.type == zero::Scheduler::constant);
    CHECK(config.gradient_clipping == 0.0);
    CHECK(config.zero_optimization.stage == 2);
    CHECK(config.zero_optimization.reduce_bucket_size == 500'000'000);
    CHECK(config.zero_optimization.offload_optimizer.device == zero::OffloadDevice::none);
    CHECK_FALSE(config.zero_optimization.offload_optimizer.pin_memory);
    CHECK_FALSE(config.steps_per_print.has_value());
}

TEST_CASE("a bf16 ZeRO-2 file as the documentation shows it is honoured", "[zero]") {
    const zero::Config config = read(R"({
        "train_batch_size": 16,
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 4,
        "steps_per_print": 2000,
        "optimizer": {
            "type": "AdamW",
            "params": {"lr": 3e-5, "betas": [0.8, 0.95], "eps": 1e-7, "weight_decay": 3e-7,
                       "bias_correction": false}
        },
        "gradient_clipping": 1.0,
        "bf16": {"enabled": true},
        "fp16": {"enabled": false, "loss_scale": 0, "initial_scale_power": 16},
        "wall_clock_breakdown": false,
        "zero_optimization": {
            "stage": 2,
            "contiguous_gradients": true,
            "overlap_comm": true,
            "reduce_scatter": true,
            "reduce_bucket_size": 5e8,
            "allgather_bucket_size": 500000000,
            "allgather_partitions": true
        }
    })");
    CHECK(config.train_batch_size == 16);
    CHECK(config.train_micro_batch_size_per_gpu == 4);
    CHECK(config.gradient_accumulation_steps == 4);
    CHECK(config.steps_per_print == 2000);
    CHECK(config.optimizer == zero::AdamOptions{3e-5, 0.8, 0.95, 1e-7, 3e-7, true, false});
    CHECK(config.gradient_clipping == 1.0);
    CHECK(config.zero_optimization.reduce_bucket_size == 500'000'000);
}

TEST_CASE("an fp16 ZeRO-1 file with a dynamic loss scale and WarmupLR is honoured", "[zero]") {
    const zero::Config config = read(R"({
        "train_micro_batch_size_per_gpu": 8,
        "zero_allow_untested_optimizer": true,
        "fp16": {
            "enabled": true,
            "auto_cast": false,
            "loss_scale": 0,
            "initial_scale_power": 32,
            "loss_scale_window": 500,
            "hysteresis": 4,
            "consecutive_hysteresis": true,
            "min_loss_scale": 0.00001
        },
        "optimizer": {"type": "Adam", "params": {"lr": 0.001, "adam_w_mode": false, "weight_decay": 0.01}},
        "scheduler": {
            "type": "WarmupLR",
            "params": {"warmup_min_lr": 0, "warmup_max_lr": 3e-5, "warmup_num_steps": 500,
                       "warmup_type": "linear"}
        },
        "zero_optimization": {"stage": 1}
    })");
    CHECK(config.train_batch_size == 8);
    CHECK(config.low_precision == zero::LowPrecision::fp16);
    CHECK(config.fp16 == zero::LossScaleOptions{0.0, 32, 500, 4, true, 0.00001});
    CHECK_FALSE(config.optimizer.adam_w_mode);
    CHECK(config.optimizer.weight_decay == 0.01);
    CHECK(config.scheduler == zero::SchedulerOptions{.type = zero::Scheduler::warmup_lr,
                                                     .warmup_min_lr = 0.0,
                                                     .warmup_max_lr = 3e-5,
                                                     .warmup_num_steps = 500,
                                                     .warmup_type = zero::WarmupType::linear});
    CHECK(config.zero_optimization.stage == 1);
}

TEST_CASE("a ZeRO-Offload file with pinned memory and WarmupDecayLR is honoured", "[zero]") {
    const zero::Config config = read(R"({
        "bf16": {"enabled": true},
        "optimizer": {"type": "AdamW", "params": {"lr": 2e-4, "torch_adam": true}},
        "scheduler": {
            "type": "WarmupDecayLR",
            "params": {"last_batch_iteration": -1, "total_num_steps": 10000, "warmup_num_steps": 100}
        },
        "zero_optimization": {
            "stage": 2,
            "offload_optimizer": {"device": "cpu", "pin_memory": true, "buffer_count": 4, "fast_init": false},
            "allgather_partitions": true,
            "allgather_bucket_size": 2e8,
            "overlap_comm": true,
            "reduce_scatter": true,
            "reduce_bucket_size": 2e8,
            "contiguous_gradients": true,
            "round_robin_gradients": true,
            "sub_group_size": 1e12
        },
        "gradient_accumulation_steps": 2,
        "train_batch_size": 32
    })");
    CHECK(config.train_micro_batch_size_per_gpu == 16);
    CHECK(config.zero_optimization.offload_optimizer ==
          zero::OffloadOptimizerConfig{.device = zero::OffloadDevice::cpu, .pin_memory = true});
    CHECK(config.zero_optimization.reduce_bucket_size == 200'000'000);
    CHECK(config.zero_optimization.sub_group_size == 1'000'000'000'000);
    CHECK(config.scheduler.type == zero::Scheduler::warmup_decay_lr);
    CHECK(config.scheduler.warmup_max_lr == 0.001);
    CHECK(config.scheduler.total_num_steps == 10'000);
    CHECK(config.optimizer.weight_decay == 0.01);  // torch's default, which torch_adam stands for
}

TEST_CASE("a ZeRO-Offload file with ordinary memory and a static loss scale is honoured", "[zero]") {
    const zero::Config config = read(R"({
        "train_batch_size": 64,
        "train_micro_batch_size_per_gpu": 16,
        "fp16": {"enabled": true, "loss_scale": 1024, "fused_mode": true},
        "data_types": {"grad_accum_dtype": "fp16"},
        "communication_data_type": "fp16",
        "prescale_gradients": false,
        "gradient_predivide_factor": 1.0,
        "optimizer": {"type": "adamw", "params": {"lr": 1e-4}},
        "zero_optimization": {
            "stage": 1,
            "offload_optimizer": {"device": "cpu", "pin_memory": false, "ratio": 1.0}
        },
        "aio": {"block_size": 1048576, "queue_depth": 8, "thread_count": 1, "single_submit": false,
                "overlap_events": true}
    })");
    CHECK(config.gradient_accumulation_steps == 4);
    CHECK(config.fp16.loss_scale == 1024.0);
    CHECK(config.zero_optimization.offload_optimizer ==
          zero::OffloadOptimizerConfig{.device = zero::OffloadDevice::cpu});
}

TEST_CASE("a SuperOffload file is honoured, with DeepSpeed's share of the cores unless it says another",
          "[zero]") {
    const auto offload_of = [](std::string_view cores) {
        return read(R"({"bf16": {"enabled": true}, "train_batch_size": 8, "optimizer": {"type": "AdamW"},
                        "zero_optimization": {"stage": 2, "offload_optimizer":
                            {"device": "cpu", "pin_memory": true, "super_offload": true)" +
                    std::string{cores} + "}}}")
            .zero_optimization.offload_optimizer;
    };
    zero::OffloadOptimizerConfig expected{.device = zero::OffloadDevice::cpu,
                                          .pin_memory = true,
                                          .super_offload = true,
                                          .cpuadam_cores_perc = 0.8};
    CHECK(offload_of("") == expected);
    for (const auto& [text, share] :
         {std::pair{R"(, "cpuadam_cores_perc": 0.5)", 0.5}, std::pair{R"(, "cpuadam_cores_perc": 1)", 1.0}}) {
        expected.cpuadam_cores_perc = share;
        CHECK(offload_of(text) == expected);
    }
}

TEST_CASE("a file that carries sections of other features, all off, is accepted", "[zero]") {
    const zero::Config config = read(R"({
        "train_batch_size": 4,
        "steps_per_print": null,
        "dump_state": false,
        "memory_breakdown": false,
        "sparse_gradients": false,
        "bf16": {"enabled": true, "immediate_grad_update": false, "check_grad_overflow": true},
        "optimizer": {"type": "AdamW", "legacy_fusion": false, "params": {"amsgrad": false}},
        "scheduler": null,
        "activation_checkpointing": {"partition_activations": false, "cpu_checkpointing": false,
                                     "contiguous_memory_optimization": false, "number_checkpoints": null,
                                     "synchronize_checkpoint_boundary": false, "profile": false},
        "flops_profiler": {"enabled": false, "profile_step": 1, "module_depth": -1, "output_file": null},
        "tensorboard": {"enabled": false, "output_path": "logs/", "job_name": "run"},
        "wandb": {"enabled": false},
        "comms_logger": {},
        "amp": {"enabled": false, "opt_level": "O1"},
        "zero_optimization": {
            "stage": 2,
            "overlap_comm": null,
            "offload_optimizer": null,
            "offload_param": {"device": "none", "nvme_path": "/local_nvme", "pin_memory": true},
            "stage3_max_live_parameters": 1e9,
            "stage3_gather_16bit_weights_on_model_save": true,
            "zero_hpz_partition_size": 1,
            "zero_quantized_weights": false
        }
    })");
    CHECK(config.train_batch_size == 4);
    CHECK(config.zero_optimization.offload_optimizer.device == zero::OffloadDevice::none);
}

TEST_CASE("AdamW decouples weight decay whatever adam_w_mode says, and Adam does unless told not to",
          "[zero]") {
    const auto mode = [](std::string_view optimizer) {
        return read(std::string{R"({"train_batch_size": 1, "bf16": {"enabled": true},
                                    "zero_optimization": {"stage": 1}, "optimizer": )"} +
                    std::string{optimizer} + "}")
            .optimizer.adam_w_mode;
    };
    CHECK(mode(R"({"type": "AdamW", "params": {"adam_w_mode": false}})"));
    CHECK(mode(R"({"type": "Adam"})"));
    CHECK(mode(R"({"type": "ADAM", "params": {"adam_w_mode": true}})"));
    CHECK_FALSE(mode(R"({"type": "Adam", "params": {"adam_w_mode": false}})"));
}

TEST_CASE("whatever of the three batch fields is left out is computed from the others", "[zero]") {
    struct Case {
        std::string_view fields;
        std::int64_t total, micro, steps;
    };
    const auto test =
        GENERATE(Case{R"("train_batch_size": 12)", 12, 12, 1},
                 Case{R"("train_micro_batch_size_per_gpu": 12)", 12, 12, 1},
                 Case{R"("train_batch_size": 12, "gradient_accumulation_steps": 3)", 12, 4, 3},
                 Case{R"("train_batch_size": 12, "train_micro_batch_size_per_gpu": 3)", 12, 3, 4},
                 Case{R"("train_micro_batch_size_per_gpu": 3, "gradient_accumulation_steps": 4)", 12, 3, 4},
                 Case{
                     R"("train_batch_size": 12, "train_micro_batch_size_per_gpu": 3,
               "gradient_accumulation_steps": 4)",
                     12, 3, 4});
    const zero::Config config = read("{" + std::string{test.fields} +
                                     R"(, "bf16": {"enabled": true}, "optimizer": {"type": "Adam"},
                                         "zero_optimization": {"stage": 1}})");
    CHECK(config.train_batch_size == test.total);
    CHECK(config.train_micro_batch_size_per_gpu == test.micro);
    CHECK(config.gradient_accumulation_steps == test.steps);
}

TEST_CASE("a byte order mark and any white space are accepted", "[zero]") {
    CHECK(read("\xEF\xBB\xBF\r\n\t" + std::string{smallest} + "\n\n") == read(smallest));
}

TEST_CASE("a file is read like its text, and errors name it", "[zero]") {
    const Folder folder;
    CHECK(zero::read_config_file(folder.file("good.json", smallest)) == read(smallest));
    const auto bad = folder.file("bad.json", "[]");
    CHECK_THROWS_MATCHES(
        zero::read_config_file(bad), pinwarden::ConfigurationError,
        MessageMatches(ContainsSubstring(bad + ": found an array of 0 elements; valid: an object")));
}

TEST_CASE("a file that cannot be read is an error that says why", "[zero]") {
    const Folder folder;
    const auto refused = [](const std::string& path, const std::string& why) {
        CHECK_THROWS_MATCHES(zero::read_config_file(path), pinwarden::ConfigurationError,
                             MessageMatches(ContainsSubstring(path) && ContainsSubstring(why)));
    };
    refused((folder.path() / "none.json").string(), "No such file or directory");
    refused(folder.path().string(), "Is a directory");
    refused(folder.file("empty.json", ""), "the text is empty");
    refused(folder.file("blank.json", " \n\t \r\n"), "the text is empty");
    refused("/dev/zero", "the file is larger than 1048576 bytes");
    refused(folder.file("zeros.json", std::string(100, '\0')), "line 1, column 1: not valid JSON");
}

TEST_CASE("a file without read permission is an error that says so", "[zero]") {
    const Folder folder;
    const auto path = folder.file("secret.json", smallest);
    REQUIRE(::chmod(path.c_str(), 0) == 0);
    if (::access(path.c_str(), R_OK) == 0) {
        // The superuser may read everything; the contents are valid then.
        CHECK(zero::read_config_file(path) == read(smallest));
        return;
    }
    CHECK_THROWS_MATCHES(zero::read_config_file(path), pinwarden::ConfigurationError,
                         MessageMatches(ContainsSubstring("Permission denied")));
}
