// SPDX-License-Identifier: Apache-2.0
#include <accelerator/work_queue.hpp>

#include <utility>

#include <fmt/format.h>

#include <pinwarden/core/release_failure.hpp>

namespace pinwarden::detail {

namespace {

// The queue whose worker the current thread is.
constinit thread_local const WorkQueue* queue_of_this_thread = nullptr;

}  // namespace

WorkQueue::WorkQueue(std::string name) : progress_(std::make_shared<StreamProgress>(std::move(name))) {}

WorkQueue::~WorkQueue() {
    // One by one: a chain of owners destroyed through its head would recurse once per item.
    while (head_ != nullptr) head_ = std::move(head_->next_);
}

std::uint64_t WorkQueue::push(std::unique_ptr<WorkItem> item) noexcept {
    std::uint64_t number = 0;
    {
        const std::lock_guard lock(mutex_);
        number = item->number_ = ++last_;
        WorkItem* const added = item.get();
        (tail_ == nullptr ? head_ : tail_->next_) = std::move(item);
        tail_ = added;
    }
    changed_.notify_one();
    return number;
}

std::uint64_t WorkQueue::last() const noexcept {
    const std::lock_guard lock(mutex_);
    return last_;
}

void WorkQueue::close() noexcept {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    changed_.notify_one();
}

std::unique_ptr<WorkItem> WorkQueue::take() noexcept {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return head_ != nullptr || closed_; });
    std::unique_ptr<WorkItem> item = std::move(head_);
    if (item != nullptr) {
        head_ = std::move(item->next_);
        if (head_ == nullptr) tail_ = nullptr;
    }
    return item;
}

void WorkQueue::run_item(std::unique_ptr<WorkItem> item) noexcept {
    const std::uint64_t number = item->number_;
    std::exception_ptr failure;
    try {
        item->run();
    } catch (...) {
        // Published after this block, which holds a reference of its own until it is left: the thread that
        // takes the failure is then the one that destroys it.
        failure = std::current_exception();
    }
    item.reset();  // what the work owns is gone before anybody sees it as finished
    if (failure != nullptr) {
        const std::lock_guard lock(mutex_);
        if (failure_ == nullptr) failure_ = std::move(failure);
    }
    progress_->finish(number);
}

void WorkQueue::run() noexcept {
    queue_of_this_thread = this;
    while (std::unique_ptr<WorkItem> item = take()) run_item(std::move(item));
    if (const std::exception_ptr failure = take_failure()) report_failure(failure);
    queue_of_this_thread = nullptr;
}

std::exception_ptr WorkQueue::take_failure() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, nullptr);
}

void WorkQueue::report_failure(const std::exception_ptr& failure) const noexcept {
    fmt::basic_memory_buffer<char, 512> text;
    const auto report = [&](const char* what) {
        try {
            fmt::format_to(
                std::back_inserter(text),
                "work on stream '{}' failed, and the stream was destroyed without a synchronize() that "
                "would have said so: {}",
                progress_->name(), what);
            report_release_failure({.text = {text.data(), text.size()}});
        } catch (...) {
            report_release_failure(
                {.text = "work on a destroyed stream failed, and memory for the details is short"});
        }
    };
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        report(error.what());
    } catch (...) {
        report("an exception that is no std::exception");
    }
}

bool WorkQueue::is_own_worker() const noexcept { return queue_of_this_thread == this; }

bool WorkQueue::is_worker() noexcept { return queue_of_this_thread != nullptr; }

}  // namespace pinwarden::detail
