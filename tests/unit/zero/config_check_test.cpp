// SPDX-License-Identifier: Apache-2.0

// What read_config_text() refuses, and in which words.

#include <pinwarden/zero/config.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace zero = pinwarden::zero;

namespace {

/// The error's text, or a note that there was none.
std::string refusal(std::string_view json) {
    try {
        const auto config = zero::read_config_text(json, "ds.json");
        return "accepted, with train_batch_size " + std::to_string(config.train_batch_size);
    } catch (const pinwarden::ConfigurationError& error) {
        return error.what();
    }
}

/// A valid configuration with some of its parts replaced.
struct Parts {
    std::string_view batch = R"("train_batch_size": 8)";
    std::string_view precision = R"("bf16": {"enabled": true})";
    std::string_view optimizer = R"("optimizer": {"type": "AdamW", "params": {"lr": 1e-3}})";
    std::string_view zero = R"("zero_optimization": {"stage": 2})";
    std::string_view more = R"("steps_per_print": 10)";

    std::string text() const {
        std::string text = "{";
        for (const auto part : {batch, precision, optimizer, zero, more}) {
            if (part.empty()) continue;
            if (text.size() > 1) text += ", ";
            text += part;
        }
        return text + "}";
    }
};

struct Case {
    Parts parts;
    std::vector<std::string_view> expected;  // the message starts with the first, and contains the others
};

void check_all(const std::vector<Case>& cases) {
    for (const Case& test : cases) {
        const std::string text = test.parts.text();
        const std::string message = refusal(text);
        INFO(text);
        INFO(message);
        CHECK(message.starts_with("ds.json: " + std::string{test.expected.front()}));
        for (const auto part : test.expected) CHECK(message.find(part) != std::string::npos);
        CHECK(message.find('\n') == std::string::npos);
    }
}

}  // namespace

TEST_CASE("the parts that the cases are made of are accepted as they are", "[zero]") {
    CHECK(refusal(Parts{}.text()) == "accepted, with train_batch_size 8");
}

TEST_CASE("unknown and misspelt fields are refused with the nearest name and the valid ones", "[zero]") {
    check_all({
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": {"devise": "cpu"}})"},
         {R"(zero_optimization.offload_optimizer.devise: unknown field "devise"; did you mean "device"?)",
          "valid here: device, pin_memory,"}},
        {{.more = R"("gradient_cliping": 1.0)"},
         {R"(gradient_cliping: unknown field)", R"(did you mean "gradient_clipping"?)"}},
        {{.more = R"("zero_allow_untrusted_optimizer": true)"},
         {R"(zero_allow_untrusted_optimizer: unknown)", R"(did you mean "zero_allow_untested_optimizer"?)"}},
        {{.zero = R"("zero_optimization": {"Stage": 2})"},
         {R"(zero_optimization.Stage: unknown field "Stage"; did you mean "stage"?)"}},
        {{.zero = R"("zero_optimization": {"satge": 2})"},
         {R"(zero_optimization.satge: unknown field "satge"; did you mean "stage"?)"}},
        {{.more = R"("pin_memory": true)"},
         {R"(pin_memory: unknown field "pin_memory"; it is known as zero_optimization.offload_optimizer.pin)",
          "offload_optimizer.pin_memory"}},
        {{.optimizer = R"("optimizer": {"type": "AdamW", "lr": 1e-3})"},
         {R"(optimizer.lr: unknown field "lr"; it is known as optimizer.params.lr)",
          "valid here: type, legacy_fusion, params"}},
        {{.more = R"("": 1)"}, {R"(: unknown field ""; valid here: train_batch_size,)"}},
        {{.more = R"("xyzzy plugh": 1)"}, {R"(xyzzy plugh: unknown field "xyzzy plugh"; valid here: )"}},
        {{.more = R"("a.b": 1)"}, {R"(a.b: unknown field "a.b")"}},
        {{.more = R"("line\nbreak": 1)"}, {R"(line\x0Abreak: unknown field "line\x0Abreak")"}},
    });
}

TEST_CASE("a field that is spelt like a path of another section is unknown", "[zero]") {
    check_all({{{.more = R"("fp16.enabled": false)"}, {R"(fp16.enabled: unknown field "fp16.enabled")"}}});
}

TEST_CASE("a field that would choose how to pin is refused with the variable that does", "[zero]") {
    constexpr std::string_view variable =
        "set the environment variable DS_PIN_MEMORY_BACKEND to native or cuda";
    check_all({
        {{.more = R"("backend": "native")"},
         {R"(backend: found "native" (a string); how memory is pinned is not set in this file)", variable}},
        {{.more = R"("pin_memory_backend": "cuda")"}, {"pin_memory_backend: found", variable}},
        {{.more = R"("DS_PIN_MEMORY_BACKEND": "cuda")"}, {"DS_PIN_MEMORY_BACKEND: found", variable}},
        {{.zero = R"("zero_optimization": {"stage": 2, "pin_backend": 3})"},
         {"zero_optimization.pin_backend: found 3", variable}},
        {{.zero =
              R"("zero_optimization": {"stage": 2,
                                      "offload_optimizer": {"device": "cpu", "backend": "torch"}})"},
         {R"(zero_optimization.offload_optimizer.backend: found "torch" (a string))", variable}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": {"pin_memory_backend": null}})"},
         {"zero_optimization.offload_optimizer.pin_memory_backend: found null", variable}},
    });
}

TEST_CASE("values of the wrong type are refused", "[zero]") {
    check_all({
        {{.batch = R"("train_batch_size": "8")"},
         {R"(train_batch_size: found "8" (a string); valid: a whole number, at least 1)"}},
        {{.batch = R"("train_batch_size": true)"}, {"train_batch_size: found true; valid: a whole number"}},
        {{.batch = R"("train_batch_size": 8.5)"}, {"train_batch_size: found 8.5; valid: a whole number"}},
        {{.batch = R"("train_batch_size": null)"}, {"train_batch_size: found null; valid: a whole number"}},
        {{.precision = R"("bf16": true)"}, {"bf16: found true; valid: an object"}},
        {{.precision = R"("bf16": {"enabled": 1})"}, {"bf16.enabled: found 1; valid: true or false"}},
        {{.precision = R"("bf16": {"enabled": "true"})"},
         {R"(bf16.enabled: found "true" (a string); valid: true or false)"}},
        {{.optimizer = R"("optimizer": "AdamW")"},
         {R"(optimizer: found "AdamW" (a string); valid: an object)"}},
        {{.optimizer = R"("optimizer": {"type": "AdamW", "params": []})"},
         {"optimizer.params: found an array of 0 elements; valid: an object"}},
        {{.optimizer = R"("optimizer": {"type": 7})"},
         {R"(optimizer.type: found 7; valid: "Adam" or "AdamW")"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"lr": "1e-4"}})"},
         {R"(optimizer.params.lr: found "1e-4" (a string); valid: a number)"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"betas": 0.9}})"},
         {"optimizer.params.betas: found 0.9; valid: an array of two numbers"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"betas": [0.9]}})"},
         {"optimizer.params.betas: found an array of 1 element; valid: an array of two numbers"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"betas": [0.9, "x"]}})"},
         {R"(optimizer.params.betas: found [0.9, "x" (a string)])"}},
        {{.zero = R"("zero_optimization": true)"}, {"zero_optimization: found true; valid: an object"}},
        {{.zero = R"("zero_optimization": {"stage": "2"})"},
         {R"(zero_optimization.stage: found "2" (a string); valid: 1, 2 or 3 (stage 0)"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "overlap_comm": "yes"})"},
         {R"(zero_optimization.overlap_comm: found "yes" (a string); valid: true or false, or null)"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": "cpu"})"},
         {R"(zero_optimization.offload_optimizer: found "cpu" (a string); valid: an object)"}},
        {{.more = R"("tensorboard": false)"}, {R"(tensorboard: found false; valid: {"enabled": false})"}},
    });
}

TEST_CASE("values out of range are refused", "[zero]") {
    check_all({
        {{.batch = R"("train_batch_size": 0)"},
         {"train_batch_size: found 0; valid: a whole number, at least 1"}},
        {{.batch = R"("train_micro_batch_size_per_gpu": -4)"}, {"train_micro_batch_size_per_gpu: found -4"}},
        {{.batch = R"("train_batch_size": 99999999999999999999)"},
         {"train_batch_size: found 1e+20; valid: a whole number, at least 1 and at most 2147483647"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"lr": -0.1}})"},
         {"optimizer.params.lr: found -0.1; valid: a number, at least 0"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"betas": [-0.1, 0.9]}})"},
         {"optimizer.params.betas: found [-0.1, 0.9]"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"betas": [0.9, 1.0]}})"},
         {"optimizer.params.betas: found [0.9, 1]; valid: an array of two numbers, at least 0 and less "
          "than 1"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"eps": 0}})"},
         {"optimizer.params.eps: found 0; valid: a number, at least 1e-37"}},
        {{.optimizer = R"("optimizer": {"type": "Adam", "params": {"weight_decay": 1e300}})"},
         {"optimizer.params.weight_decay: found 1e+300"}},
        {{.precision = R"("fp16": {"enabled": true, "loss_scale": -1})"},
         {"fp16.loss_scale: found -1; valid: a number, at least 0"}},
        {{.precision = R"("fp16": {"enabled": true, "initial_scale_power": 128})"},
         {"fp16.initial_scale_power: found 128; valid: a whole number, at least 0 and at most 127"}},
        {{.precision = R"("fp16": {"enabled": true, "loss_scale_window": 0})"},
         {"fp16.loss_scale_window: found 0"}},
        {{.precision = R"("fp16": {"enabled": true, "hysteresis": 0})"},
         {"fp16.hysteresis: found 0; valid: a whole number, at least 1"}},
        {{.precision = R"("fp16": {"enabled": true, "min_loss_scale": 0})"},
         {"fp16.min_loss_scale: found 0; valid: a number, more than 0"}},
        {{.more = R"("gradient_clipping": -1)"},
         {"gradient_clipping: found -1; valid: a number, at least 0"}},
        {{.more = R"("steps_per_print": 0)"}, {"steps_per_print: found 0"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "reduce_bucket_size": 0})"},
         {"zero_optimization.reduce_bucket_size: found 0"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "allgather_bucket_size": -5})"},
         {"zero_optimization.allgather_bucket_size: found -5"}},
    });
}

TEST_CASE("stages and offload devices that the engine does not have are refused", "[zero]") {
    constexpr std::string_view stages = "the engine has stages 1, 2 and 3";
    check_all({
        {{.zero = R"("zero_optimization": {"stage": 0})"},
         {"zero_optimization.stage: found 0; valid: 1, 2 or 3", stages}},
        {{.zero = R"("zero_optimization": {"stage": 4})"}, {"zero_optimization.stage: found 4", stages}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": {"device": "nvme"}})"},
         {R"(zero_optimization.offload_optimizer.device: found "nvme" (a string); valid: "none" or "cpu")",
          "does not offer offload to NVMe"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpuu"}})"},
         {R"(zero_optimization.offload_optimizer.device: found "cpuu")", R"(did you mean "cpu"?)"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}})"},
         {R"(zero_optimization.offload_param.device: found "cpu", and zero_optimization.stage is 2)",
          "stage 3 alone"}},
        {{.zero = R"("zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}})"},
         {R"(zero_optimization.offload_param.device: found "cpu")",
          R"(offload_optimizer.device is not "cpu")"}},
        {{.zero = R"("zero_optimization": {"stage": 3, "offload_param": {"device": "nvme"}})"},
         {R"(zero_optimization.offload_param.device: found "nvme" (a string); valid: "none" or "cpu")"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": {"ratio": 0.3}})"},
         {"zero_optimization.offload_optimizer.ratio: found 0.3; valid: 1"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "zero_hpz_partition_size": 4})"},
         {"zero_optimization.zero_hpz_partition_size: found 4, and zero_optimization.stage is 2",
          "stage 3 alone has secondary shards"}},
        {{.zero = R"("zero_optimization": {"stage": 3, "zero_hpz_partition_size": 4})"},
         {"zero_optimization.zero_hpz_partition_size: found 4, which does not divide the 1 rank(s)"}},
        {{.zero = R"("zero_optimization": {"stage": 3, "zero_quantized_weights": true})"},
         {"zero_optimization.zero_quantized_weights: found true; valid: false"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "contiguous_gradients": false})"},
         {"zero_optimization.contiguous_gradients: found false; valid: true"}},
    });
}

TEST_CASE("what is not honoured is refused unless it is switched off or at its default", "[zero]") {
    check_all({
        {{.more = R"("prescale_gradients": true)"}, {"prescale_gradients: found true; valid: false"}},
        {{.more = R"("gradient_predivide_factor": 2.0)"}, {"gradient_predivide_factor: found 2; valid: 1"}},
        {{.more = R"("wall_clock_breakdown": true)"}, {"wall_clock_breakdown: found true; valid: false"}},
        {{.more = R"("dump_state": true)"}, {"dump_state: found true; valid: false"}},
        {{.more = R"("dump_state": 0)"}, {"dump_state: found 0; valid: false"}},
        {{.more = R"("flops_profiler": {"enabled": true})"},
         {"flops_profiler.enabled: found true; valid: false"}},
        {{.more = R"("tensorboard": {"enabled": "no"})"},
         {R"(tensorboard.enabled: found "no" (a string); valid: false)"}},
        {{.more = R"("amp": {"enabled": true, "opt_level": "O1"})"},
         {"amp.enabled: found true; valid: false", "write bf16 or fp16"}},
        {{.more = R"("activation_checkpointing": {"cpu_checkpointing": true})"},
         {"activation_checkpointing.cpu_checkpointing: found true; valid: false"}},
        {{.more = R"("compression_training": {})"}, {"compression_training: this field is not supported"}},
        {{.precision = R"("bfloat16": {"enabled": true})"},
         {"bfloat16: this field is not supported: write bf16"}},
        {{.precision = R"("fp16": {"enabled": true, "auto_cast": true})"},
         {"fp16.auto_cast: found true; valid: false"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "cpu_offload": true})"},
         {"zero_optimization.cpu_offload: this field is not supported: write",
          R"("offload_optimizer": {"device": "cpu"})"}},
        {{.optimizer = R"("optimizer": {"type": "AdamW", "params": {"max_grad_norm": 1.0}})"},
         {"optimizer.params.max_grad_norm: this field is not supported: write gradient_clipping"}},
        {{.optimizer = R"("optimizer": {"type": "Lamb"})"},
         {R"(optimizer.type: found "Lamb" (a string); valid: "Adam" or "AdamW")"}},
        {{.optimizer = R"("optimizer": {"type": "AdamX"})"},
         {"optimizer.type: found", R"(did you mean "Adam"?)"}},
        {{.more = R"("scheduler": {"type": "OneCycle"})"},
         {R"(scheduler.type: found "OneCycle" (a string); valid: "WarmupLR" or "WarmupDecayLR")"}},
        {{.more = R"("scheduler": {"type": "WarmupLR", "params": {"last_batch_iteration": 5}})"},
         {"scheduler.params.last_batch_iteration: found 5; valid: -1"}},
    });
}

TEST_CASE("values that the Hugging Face Trainer should have replaced are refused", "[zero]") {
    constexpr std::string_view trainer = "which the Hugging Face Trainer replaces";
    check_all({
        {{.batch = R"("train_batch_size": "auto")"},
         {R"(train_batch_size: found "auto", which)", trainer, "valid: a whole number, at least 1"}},
        {{.optimizer = R"("optimizer": {"type": "AdamW", "params": {"lr": "auto"}})"},
         {R"(optimizer.params.lr: found "auto")", trainer}},
        {{.optimizer = R"("optimizer": {"type": "AdamW", "params": {"betas": "auto"}})"},
         {R"(optimizer.params.betas: found "auto")", trainer}},
        {{.precision = R"("bf16": {"enabled": "auto"})"},
         {R"(bf16.enabled: found "auto")", trainer, "valid: true or false"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "reduce_bucket_size": "auto"})"},
         {"zero_optimization.reduce_bucket_size: found", trainer}},
    });
}

TEST_CASE("fields that must be there are named when they are missing", "[zero]") {
    check_all({
        {{.optimizer = ""}, {"optimizer: this field is missing; valid: an object"}},
        {{.optimizer = R"("optimizer": {})"},
         {R"(optimizer.type: this field is missing; valid: "Adam" or "AdamW")"}},
        {{.zero = ""}, {"zero_optimization: this field is missing"}},
        {{.zero = R"("zero_optimization": {})"},
         {"zero_optimization.stage: this field is missing; valid: 1, 2 or 3 (stage 0"}},
        {{.more = R"("scheduler": {})"}, {"scheduler.type: this field is missing"}},
        {{.more = R"("scheduler": {"type": "WarmupDecayLR"})"},
         {"scheduler.params.total_num_steps: this field is missing"}},
        {{.batch = ""}, {"train_batch_size: this field and train_micro_batch_size_per_gpu are both missing"}},
        {{.batch = R"("gradient_accumulation_steps": 4)"},
         {"train_batch_size: this field and train_micro_batch_size_per_gpu are both missing"}},
    });
}

TEST_CASE("batch fields that contradict each other are refused with the equation", "[zero]") {
    constexpr std::string_view equation =
        "(train_batch_size = train_micro_batch_size_per_gpu x gradient_accumulation_steps x number of "
        "processes)";
    check_all({
        {{.batch =
              R"("train_batch_size": 8, "train_micro_batch_size_per_gpu": 2,
                 "gradient_accumulation_steps": 3)"},
         {"train_batch_size: found 8, but 2 x 3 x 1 = 6", equation}},
        {{.batch = R"("train_batch_size": 8, "train_micro_batch_size_per_gpu": 3)"},
         {"train_batch_size: found 8, which is not a multiple of train_micro_batch_size_per_gpu = 3",
          equation}},
        {{.batch = R"("train_micro_batch_size_per_gpu": 2147483647, "gradient_accumulation_steps": 2147483647)"},
         {"train_micro_batch_size_per_gpu: 2147483647 x 2147483647 x 1 is more than the largest batch", equation}},
        {{.batch = R"("train_batch_size": 8, "gradient_accumulation_steps": 16)"},
         {"train_batch_size: found 8, which is not a multiple of gradient_accumulation_steps = 16",
          equation}},
    });
}

TEST_CASE("the batch is that of all ranks together", "[zero]") {
    const auto read = [](std::string_view batch, std::size_t ranks) {
        Parts parts;
        parts.batch = batch;
        return zero::read_config_text(parts.text(), "ds.json", ranks);
    };
    const auto four = read(R"("train_batch_size": 24, "train_micro_batch_size_per_gpu": 2)", 4);
    CHECK(four.gradient_accumulation_steps == 3);
    const auto whole = read(R"("train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3)", 4);
    CHECK(whole.train_batch_size == 24);
    const auto micro = read(R"("train_batch_size": 24, "gradient_accumulation_steps": 3)", 4);
    CHECK(micro.train_micro_batch_size_per_gpu == 2);
    try {
        static_cast<void>(read(R"("train_batch_size": 6, "train_micro_batch_size_per_gpu": 2)", 4));
        FAIL("a batch of 6 is not divided by 4 ranks");
    } catch (const pinwarden::ConfigurationError& error) {
        CHECK(std::string(error.what()).find("train_micro_batch_size_per_gpu = 2 x 4 ranks") !=
              std::string::npos);
    }
}

TEST_CASE("fields that contradict each other elsewhere are refused", "[zero]") {
    check_all({
        {{.precision = R"("bf16": {"enabled": true}, "fp16": {"enabled": true})"},
         {"fp16.enabled: found true, and bf16.enabled is true as well"}},
        {{.precision = ""}, {"bf16.enabled: neither bf16.enabled nor fp16.enabled is true"}},
        {{.precision = R"("bf16": {"enabled": false}, "fp16": {})"},
         {"bf16.enabled: neither bf16.enabled nor fp16.enabled is true"}},
        {{.more = R"("data_types": {"grad_accum_dtype": "fp16"})"},
         {R"(data_types.grad_accum_dtype: found "fp16"; valid: "bf16")"}},
        {{.precision = R"("fp16": {"enabled": true, "initial_scale_power": 2, "min_loss_scale": 8})"},
         {"fp16.min_loss_scale: found 8, which is more than the initial scale, 2 to the power of "
          "fp16.initial_scale_power = 2"}},
        {{.more = R"("scheduler": {"type": "WarmupLR", "params": {"total_num_steps": 10}})"},
         {R"(scheduler.params.total_num_steps: scheduler.type is "WarmupLR", which has no such field)"}},
        {{.more =
              R"("scheduler": {"type": "WarmupDecayLR",
                               "params": {"total_num_steps": 10, "warmup_num_steps": 20}})"},
         {"scheduler.params.total_num_steps: found 10, which is less than warmup_num_steps = 20"}},
    });
}

TEST_CASE("SuperOffload without an optimizer on the host, or without a core, is refused", "[zero]") {
    constexpr std::string_view contradiction =
        R"(zero_optimization.offload_optimizer.super_offload: found true, and zero_optimization.offload_optimizer)";
    check_all({
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer": {"super_offload": true}})"},
         {contradiction, "switch super_offload off"}},
        {{.zero = R"("zero_optimization": {"stage": 1, "offload_optimizer":
                                           {"device": "none", "super_offload": true}})"},
         {contradiction}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer":
                                           {"device": "cpu", "super_offload": "yes"}})"},
         {R"(zero_optimization.offload_optimizer.super_offload: found "yes" (a string); valid: true or false)"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer":
                                           {"device": "cpu", "super_offload": true, "cpuadam_cores_perc": 0}})"},
         {"zero_optimization.offload_optimizer.cpuadam_cores_perc: found 0; valid: a number, more than 0"}},
        {{.zero = R"("zero_optimization": {"stage": 2, "offload_optimizer":
                                           {"device": "cpu", "super_offload": true, "cpuadam_cores_perc": 80}})"},
         {"zero_optimization.offload_optimizer.cpuadam_cores_perc: found 80; valid: a number, more than 0"}},
    });
}

TEST_CASE("anything but an object is refused", "[zero]") {
    CHECK(refusal("[1, 2]").starts_with("ds.json: found an array of 2 elements; valid: an object"));
    CHECK(refusal("null").starts_with("ds.json: found null; valid: an object"));
    CHECK(refusal("8").starts_with("ds.json: found 8; valid: an object"));
    CHECK(refusal("").starts_with("ds.json: the text is empty"));
}

TEST_CASE("long strings are cut in errors, and never within a letter", "[zero]") {
    std::string letters;
    for (int i = 0; i < 100; ++i) letters += "\xC3\xA4";
    Parts parts;
    const std::string batch = R"("train_batch_size": "x)" + letters + '"';
    parts.batch = batch;
    const std::string message = refusal(parts.text());
    CHECK(message.size() < 300);
    CHECK(message.find("\xC3\xA4...\" (a string)") != std::string::npos);
}
