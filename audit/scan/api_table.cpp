// SPDX-License-Identifier: Apache-2.0
#include "api_table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace pinwarden::scan {
namespace {

template <class Enum>
using Names = std::vector<std::pair<Enum, const char*>>;

const Names<ApiKind>& kind_names()
{
    static const Names<ApiKind> names{{ApiKind::pin_out, "pin-out"},
                                      {ApiKind::pin_argument, "pin-argument"},
                                      {ApiKind::pin_return, "pin-return"},
                                      {ApiKind::release, "release"},
                                      {ApiKind::free_memory, "free"},
                                      {ApiKind::move_memory, "move"},
                                      {ApiKind::allocate, "allocate"},
                                      {ApiKind::device_view, "device-view"},
                                      {ApiKind::copy_async, "copy-async"},
                                      {ApiKind::sync_stream, "sync-stream"},
                                      {ApiKind::sync_event, "sync-event"},
                                      {ApiKind::sync_all, "sync-all"},
                                      {ApiKind::record_event, "record-event"},
                                      {ApiKind::callback, "callback"},
                                      {ApiKind::query_error, "query-error"},
                                      {ApiKind::write, "write"},
                                      {ApiKind::pin_everything, "pin-everything"}};
    return names;
}

const Names<Success>& success_names()
{
    static const Names<Success> names{{Success::zero, "zero"},
                                      {Success::non_zero, "non-zero"},
                                      {Success::non_null, "non-null"},
                                      {Success::not_minus_one, "not-minus-one"},
                                      {Success::always, "always"}};
    return names;
}

const Names<CopyDirection>& direction_names()
{
    static const Names<CopyDirection> names{{CopyDirection::unknown, "unknown"},
                                            {CopyDirection::host_to_device, "host-to-device"},
                                            {CopyDirection::device_to_host, "device-to-host"},
                                            {CopyDirection::by_argument, "by-argument"}};
    return names;
}

template <class Enum>
const char* name_of(const Names<Enum>& names, Enum value)
{
    const auto at =
        std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.first == value; });
    return at->second;
}

template <class Enum>
Enum value_of(const Names<Enum>& names, const std::string& word, const char* what)
{
    for (const auto& [value, name] : names) {
        if (word == name)
            return value;
    }
    std::string valid;
    for (const auto& [value, name] : names)
        valid += (valid.empty() ? "" : ", ") + std::string(name);
    throw std::invalid_argument("'" + word + "' is no " + what + "; use one of: " + valid);
}

/// The driver's and the stream-ordered entry points carry suffixes that the headers add by macros.
std::string_view without_version(std::string_view name)
{
    static constexpr std::array<std::string_view, 6> suffixes{"_v2", "_v3", "_v4", "_ptsz", "_ptds", "_spt"};
    for (bool again = true; again;) {
        again = false;
        for (const std::string_view suffix : suffixes) {
            if (name.size() > suffix.size() && name.ends_with(suffix)) {
                name.remove_suffix(suffix.size());
                again = true;
            }
        }
    }
    return name;
}

}  // namespace

bool is_pin(ApiKind kind)
{
    return kind == ApiKind::pin_out || kind == ApiKind::pin_argument || kind == ApiKind::pin_return;
}

void ApiTable::add(Api api)
{
    const std::size_t colon = api.name.rfind("::");
    const std::string word = colon == std::string::npos ? api.name : api.name.substr(colon + 2);
    if (is_pin(api.kind) || api.kind == ApiKind::release || api.kind == ApiKind::pin_everything)
        words_[word] = true;
    std::vector<Api>& list = entries_[api.name];
    const auto same = std::find_if(list.begin(), list.end(), [&](const Api& old) {
        return old.kind == api.kind && old.argument == api.argument;
    });
    if (same == list.end())
        list.push_back(std::move(api));
    else
        *same = std::move(api);
}

const std::vector<Api>* ApiTable::find(std::string_view qualified_name) const
{
    auto at = entries_.find(std::string(qualified_name));
    if (at == entries_.end())
        at = entries_.find(std::string(without_version(qualified_name)));
    return at == entries_.end() ? nullptr : &at->second;
}

bool ApiTable::mentions(std::string_view identifier) const
{
    return words_.contains(std::string(identifier)) ||
           words_.contains(std::string(without_version(identifier)));
}

bool ApiTable::compatible(std::string_view left, std::string_view right)
{
    const auto general = [](std::string_view family) {
        return family.starts_with("cu-") ? "cuda-" + std::string(family.substr(3)) : std::string(family);
    };
    return general(left) == general(right);
}

void to_json(nlohmann::json& out, const Api& api)
{
    out = {{"name", api.name},
           {"kind", name_of(kind_names(), api.kind)},
           {"family", api.family},
           {"argument", api.argument},
           {"memory-argument", api.memory_argument},
           {"size-argument", api.size_argument},
           {"stream-argument", api.stream_argument},
           {"flag-argument", api.flag_argument},
           {"flag-mask", api.flag_mask},
           {"success", name_of(success_names(), api.success)},
           {"direction", name_of(direction_names(), api.direction)},
           {"direction-argument", api.direction_argument},
           {"by-range", api.by_range},
           {"foreign-code", api.foreign_code},
           {"wrapper", api.wrapper}};
}

void from_json(const nlohmann::json& in, Api& api)
{
    api = Api{};
    in.at("name").get_to(api.name);
    api.kind = value_of(kind_names(), in.at("kind").get<std::string>(), "kind of call");
    api.family = in.value("family", api.name);
    api.argument = in.value("argument", api.argument);
    api.memory_argument = in.value("memory-argument", api.memory_argument);
    api.size_argument = in.value("size-argument", api.size_argument);
    api.stream_argument = in.value("stream-argument", api.stream_argument);
    api.flag_argument = in.value("flag-argument", api.flag_argument);
    api.flag_mask = in.value("flag-mask", api.flag_mask);
    const bool returns_pin = api.kind == ApiKind::pin_return;
    api.success =
        value_of(success_names(), in.value("success", returns_pin ? "non-null" : "zero"), "success value");
    api.direction = value_of(direction_names(), in.value("direction", "unknown"), "direction of a copy");
    api.direction_argument = in.value("direction-argument", api.direction_argument);
    api.by_range = in.value("by-range", api.by_range);
    api.foreign_code = in.value("foreign-code", api.foreign_code);
    api.wrapper = in.value("wrapper", api.wrapper);
}

}  // namespace pinwarden::scan
