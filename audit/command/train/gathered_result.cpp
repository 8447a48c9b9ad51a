// SPDX-License-Identifier: Apache-2.0
#include "command/train/gathered_result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace pinwarden::command {

namespace {

nlohmann::json to_json(const std::vector<audit::PinRecord>& records) {
    auto list = nlohmann::json::array();
    for (const audit::PinRecord& record : records) {
        list.push_back({{"label", record.label},
                        {"scope", record.scope},
                        {"state", static_cast<int>(record.state)},
                        {"bytes", record.bytes},
                        {"locked_bytes", record.locked_bytes}});
    }
    return list;
}

std::vector<audit::PinRecord> records_from(const nlohmann::json& list, std::size_t rank) {
    std::vector<audit::PinRecord> records;
    for (const auto& entry : list) {
        audit::PinRecord record;
        record.label = fmt::format("rank {}: {}", rank, entry.at("label").get<std::string>());
        record.scope = entry.at("scope");
        record.state = static_cast<audit::PinState>(entry.at("state").get<int>());
        record.bytes = entry.at("bytes");
        record.locked_bytes = entry.at("locked_bytes");
        records.push_back(std::move(record));
    }
    return records;
}

void append(std::vector<audit::PinRecord>& all, std::vector<audit::PinRecord> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Text of each rank, in the order of the ranks.
std::vector<std::string> gather_texts(const std::string& own, zero::Communicator& ranks) {
    std::vector<double> lengths(ranks.size());
    lengths[ranks.rank()] = static_cast<double>(own.size());
    ranks.all_reduce(lengths, zero::Reduction::sum);
    std::vector<std::size_t> sizes;
    for (const double length : lengths) sizes.push_back(static_cast<std::size_t>(length));
    std::string all(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), '\0');
    const auto before = sizes.begin() + static_cast<std::ptrdiff_t>(ranks.rank());
    const std::size_t offset = std::accumulate(sizes.begin(), before, std::size_t{0});
    std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(offset));
    ranks.all_gather(gsl::as_writable_bytes(gsl::span<char>(all.data(), all.size())), sizes);
    std::vector<std::string> texts;
    std::size_t begin = 0;
    for (const std::size_t size : sizes) {
        texts.push_back(all.substr(begin, size));
        begin += size;
    }
    return texts;
}

}  // namespace

std::string audit_to_json(const TrainingResult& result) {
    nlohmann::json json;
    json["before"] = result.kernel_locked.before;
    json["peak"] = result.kernel_locked.peak;
    json["after"] = result.kernel_locked.after;
    json["peak_locked"] = result.peak_locked_bytes;
    json["observations"] = result.observations;
    if (result.disagreement) {
        json["disagreement"] = {result.disagreement->registry_bytes, result.disagreement->kernel_bytes};
    }
    json["at_peak"] = to_json(result.records_at_peak);
    json["at_end"] = to_json(result.final_report.records);
    json["destroy_error"] = result.destroy_error;
    json["report"] = result.final_report.records.empty() ? std::string() : to_text(result.final_report);
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void add_from_json(TrainingResult& sum, const std::string& text, std::size_t rank) {
    const auto json = nlohmann::json::parse(text);
    sum.kernel_locked.before += json.at("before").get<std::size_t>();
    sum.kernel_locked.peak += json.at("peak").get<std::size_t>();
    sum.kernel_locked.after += json.at("after").get<std::size_t>();
    sum.peak_locked_bytes += json.at("peak_locked").get<std::size_t>();
    sum.observations += json.at("observations").get<std::size_t>();
    if (json.contains("disagreement") && !sum.disagreement) {
        sum.disagreement = Disagreement{.registry_bytes = json.at("disagreement").at(0),
                                        .kernel_bytes = json.at("disagreement").at(1)};
    }
    append(sum.records_at_peak, records_from(json.at("at_peak"), rank));
    append(sum.final_report.records, records_from(json.at("at_end"), rank));
    sum.final_report.counts = audit::count(sum.final_report.records);
    const std::string error = json.at("destroy_error");
    if (!error.empty()) {
        sum.destroy_error += fmt::format("{}rank {}: {}", sum.destroy_error.empty() ? "" : "; ", rank, error);
    }
    const std::string report = json.at("report");
    if (!report.empty()) sum.report_text += fmt::format("rank {}\n{}", rank, report);
}

TrainingResult gather_results(TrainingResult own, zero::Communicator& ranks) {
    if (ranks.size() == 1) return own;
    const auto texts = gather_texts(audit_to_json(own), ranks);
    TrainingResult sum = own;
    sum.kernel_locked = {};
    sum.peak_locked_bytes = 0;
    sum.observations = 0;
    sum.disagreement.reset();
    sum.records_at_peak.clear();
    sum.final_report = {};
    sum.destroy_error.clear();
    for (std::size_t rank = 0; rank < texts.size(); ++rank) add_from_json(sum, texts[rank], rank);
    return sum;
}

}  // namespace pinwarden::command
