// SPDX-License-Identifier: Apache-2.0
#include "command/train/summary.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace pinwarden::command {

std::string to_json(const Summary& summary) {
    constexpr std::size_t kib = 1024;
    constexpr int indent = 2;
    nlohmann::ordered_json vmlck;
    vmlck["before"] = summary.vmlck_bytes.before / kib;
    vmlck["peak"] = summary.vmlck_bytes.peak / kib;
    vmlck["after"] = summary.vmlck_bytes.after / kib;
    nlohmann::ordered_json json;
    json["steps"] = summary.steps;
    json["loss_first"] = summary.loss_first;
    json["loss_last"] = summary.loss_last;
    json["unigram_entropy"] = summary.unigram_entropy;
    json["peak_pinned_bytes"] = summary.peak_pinned_bytes;
    json["vmlck_kib"] = std::move(vmlck);
    json["live_pins"] = summary.live_pins;
    json["backend"] = summary.backend;
    return json.dump(indent) + "\n";
}

}  // namespace pinwarden::command
