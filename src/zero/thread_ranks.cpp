// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/zero/thread_ranks.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "zero/sizes_text.hpp"

namespace pinwarden::zero {
namespace {

constexpr std::string_view split_operation = "split";

// What one rank has brought to the call that is under way.
struct Post {
    std::string operation;
    std::vector<std::size_t> sizes;
    std::size_t root = 0;
    const std::byte* data = nullptr;
    std::size_t colour = 0;

    [[nodiscard]] bool same_call(const Post& other) const {
        return operation == other.operation && sizes == other.sizes && root == other.root;
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{} of {}{}", operation, sizes_text(sizes),
                           root == 0 ? std::string() : fmt::format(" from rank {}", root));
    }
};

// What the ends of a group share.
class Group {
public:
    Group(std::size_t size, std::string name) : name_(std::move(name)), posts_(size) {}

    [[nodiscard]] std::size_t size() const noexcept { return posts_.size(); }
    [[nodiscard]] std::string_view name() const noexcept { return name_; }

    // Waits for all ranks, runs `act` while their data stays where it is, and waits for all again.
    template <typename Act>
    void meet(std::size_t rank, Post post, const std::string& call, Act act) {
        std::unique_lock lock(mutex_);
        require_whole(call);
        posts_[rank] = std::move(post);
        arrive(lock, call, [&] {
            compare_calls();
            divide();
        });
        lock.unlock();
        act(std::as_const(posts_));
        lock.lock();
        // Nobody leaves between the two meetings of one call: no code of others runs there.
        arrive(lock, call, [] {});
    }

    // The part of a group that the ranks of one colour make; to be called while all of them meet to split.
    [[nodiscard]] std::shared_ptr<Group> part(std::size_t colour) const { return parts_.at(colour); }

    void leave(std::size_t rank) noexcept {
        const std::scoped_lock lock(mutex_);
        if (!left_) left_ = rank;
        changed_.notify_all();
    }

private:
    void compare_calls() {
        for (std::size_t odd = 1; odd < posts_.size() && broken_.empty(); ++odd) {
            if (posts_[odd].same_call(posts_.front())) continue;
            broken_ = fmt::format("the ranks make different calls: rank 0 {}, rank {} {}",
                                  posts_.front().text(), odd, posts_[odd].text());
        }
    }

    void divide() {
        parts_.clear();
        if (posts_.front().operation != split_operation) return;
        std::map<std::size_t, std::size_t> members;
        for (const Post& post : posts_) ++members[post.colour];
        for (const auto& [colour, count] : members) {
            parts_[colour] = std::make_shared<Group>(count, fmt::format("{}/{}", name_, colour));
        }
    }

    void require_whole(const std::string& call) const {
        if (!broken_.empty()) throw CommunicationError(fmt::format("{}: {}", call, broken_));
        if (left_) {
            throw CommunicationError(fmt::format(
                "{}: rank {} has left the group; all ranks must make the same calls", call, *left_));
        }
    }

    // Waits until all ranks are here; the last one runs `complete` and lets them go.
    template <typename Complete>
    void arrive(std::unique_lock<std::mutex>& lock, const std::string& call, Complete complete) {
        const std::size_t meeting = meeting_;
        if (++arrived_ == size()) {
            complete();
            arrived_ = 0;
            ++meeting_;
            changed_.notify_all();
        } else {
            changed_.wait(lock, [&] { return meeting_ != meeting || left_.has_value(); });
            if (meeting_ == meeting) {
                --arrived_;
                require_whole(call);
            }
        }
        // Who has left since, and was here, is no matter of this call.
        if (!broken_.empty()) require_whole(call);
    }

    std::string name_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Post> posts_;
    std::size_t arrived_ = 0;
    std::size_t meeting_ = 0;
    std::optional<std::size_t> left_;                      // the first rank that did
    std::string broken_;                                   // what the ranks did not agree on
    std::map<std::size_t, std::shared_ptr<Group>> parts_;  // by colour, while a split is under way
};

class ThreadRank final : public Communicator {
public:
    ThreadRank(std::shared_ptr<Group> group, std::size_t rank) : group_(std::move(group)), rank_(rank) {}
    ~ThreadRank() override { group_->leave(rank_); }

    [[nodiscard]] std::size_t rank() const noexcept override { return rank_; }
    [[nodiscard]] std::size_t size() const noexcept override { return group_->size(); }
    [[nodiscard]] std::string_view name() const noexcept override { return group_->name(); }

protected:
    void do_barrier(const Call& call) override {
        meet(call, nullptr, [](const std::vector<Post>&) {});
    }

    void do_broadcast(const Call& call, gsl::span<std::byte> data) override {
        meet(call, data.data(), [&](const std::vector<Post>& posts) {
            if (call.root != rank_) std::copy_n(posts[call.root].data, data.size(), data.data());
        });
    }

    void do_all_gather(const Call& call, gsl::span<std::byte> all) override {
        meet(call, all.data(), [&](const std::vector<Post>& posts) {
            std::size_t offset = 0;
            for (std::size_t other = 0; other < posts.size(); ++other) {
                const std::size_t bytes = call.sizes[other];
                if (other != rank_) std::copy_n(posts[other].data + offset, bytes, all.data() + offset);
                offset += bytes;
            }
        });
    }

    void do_exchange(const Call& call, gsl::span<const std::byte> data,
                     gsl::span<std::byte> received) override {
        meet(call, data.data(), [&](const std::vector<Post>& posts) {
            const auto before = call.sizes.begin() + static_cast<std::ptrdiff_t>(rank_);
            const std::size_t offset = std::accumulate(call.sizes.begin(), before, std::size_t{0});
            const std::size_t bytes = call.sizes[rank_];
            std::byte* to = received.data();
            for (const Post& post : posts) to = std::copy_n(post.data + offset, bytes, to);
        });
    }

    std::shared_ptr<Communicator> do_split(const Call& call, std::size_t colour) override {
        std::shared_ptr<Communicator> part;
        Post post = post_of(call, nullptr);
        post.colour = colour;
        group_->meet(rank_, std::move(post), describe(call), [&](const std::vector<Post>& posts) {
            const auto before = posts.begin() + static_cast<std::ptrdiff_t>(rank_);
            const auto position = std::count_if(posts.begin(), before,
                                                [&](const Post& other) { return other.colour == colour; });
            part = std::make_shared<ThreadRank>(group_->part(colour), static_cast<std::size_t>(position));
        });
        return part;
    }

private:
    static Post post_of(const Call& call, const std::byte* data) {
        return {.operation = std::string(call.operation),
                .sizes = std::vector<std::size_t>(call.sizes.begin(), call.sizes.end()),
                .root = call.root,
                .data = data};
    }

    template <typename Act>
    void meet(const Call& call, const std::byte* data, Act act) {
        group_->meet(rank_, post_of(call, data), describe(call), act);
    }

    std::shared_ptr<Group> group_;
    std::size_t rank_;
};

}  // namespace

std::vector<CommunicatorPtr> make_thread_ranks(std::size_t size, std::string name) {
    if (size == 0) {
        throw CommunicationError(
            fmt::format("make_thread_ranks(0, '{}'): a group has at least one rank", name));
    }
    const auto group = std::make_shared<Group>(size, std::move(name));
    std::vector<CommunicatorPtr> ranks;
    ranks.reserve(size);
    for (std::size_t rank = 0; rank < size; ++rank)
        ranks.push_back(std::make_shared<ThreadRank>(group, rank));
    return ranks;
}

void run_ranks(std::size_t size, const std::function<void(const CommunicatorPtr&)>& work) {
    auto ranks = make_thread_ranks(size);
    std::mutex mutex;
    std::exception_ptr first;
    const auto run = [&](CommunicatorPtr rank) {
        try {
            work(rank);
        } catch (...) {
            // Noted before the rank leaves: what that makes of the others comes second.
            const std::scoped_lock lock(mutex);
            if (first == nullptr) first = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        threads.reserve(size);
        for (CommunicatorPtr& rank : ranks) threads.emplace_back(run, std::move(rank));
    }
    if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace pinwarden::zero
