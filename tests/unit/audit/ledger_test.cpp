// SPDX-License-Identifier: Apache-2.0
#include <registry/ledger.hpp>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>

#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/manual_token.hpp>
#include <support/own_pages.hpp>

namespace pinwarden::audit {

namespace {

using testing::AuditState;
using testing::ManualToken;
using testing::OwnPages;
using Buffer = PinnedBuffer<std::byte>;

constexpr std::size_t thread_count = 8;

// Runs `work(number)` on eight threads that start together. Assertions belong to the caller's thread: `work`
// answers whether all was as it should be.
bool on_all_threads(const std::function<bool(std::size_t)>& work) {
    std::atomic<bool> fine{true};
    std::barrier start(static_cast<std::ptrdiff_t>(thread_count));
    {
        std::vector<std::jthread> threads;
        for (std::size_t number = 0; number < thread_count; ++number) {
            threads.emplace_back([&, number] {
                start.arrive_and_wait();
                if (!work(number)) fine = false;
            });
        }
    }
    return fine;
}

bool is_found(const std::byte* address, const std::string& label) {
    const auto record = Registry::instance().find(address);
    return record && record->label == label;
}

bool all_whole(const std::vector<PinRecord>& records) {
    for (const PinRecord& record : records) {
        if (record.address == nullptr || record.bytes == 0 || record.backend.empty() || record.label.empty())
            return false;
    }
    return true;
}

// Looks at the registry from inside its calls, as another thread could at that moment.
class WatchingBackend final : public PinBackend {
public:
    Tally seen;          // live pins during the last call
    bool found = false;  // whether the address of that call was found then
    std::function<void()> while_registering;

    [[nodiscard]] std::string_view name() const noexcept override { return "watching"; }
    [[nodiscard]] bool pins() const noexcept override { return true; }
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override {
        const HostBlock block = native_backend()->allocate(bytes);
        look_at(block.address);
        return block;
    }
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override {
        look_at(block.address);
        return native_backend()->deallocate(block);
    }
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override {
        look_at(address);
        if (while_registering) while_registering();
        return native_backend()->register_memory(address, bytes);
    }
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override {
        look_at(block.address);
        return native_backend()->unregister_memory(block);
    }

private:
    void look_at(const std::byte* address) {
        seen = Registry::instance().counts().live;
        found = Registry::instance().find(address).has_value();
    }
};

}  // namespace

TEST_CASE("Eight threads pin, unpin, find, count and take snapshots at once", "[audit][threads]") {
    const AuditState before = AuditState::now();
    const auto scripted = std::make_shared<ScriptedBackend>();
    const Scope scope("threads");
    const bool fine = on_all_threads([&](std::size_t number) {
        const std::string label = "thread " + std::to_string(number);
        const Scope own(label);
        std::vector<Buffer> kept;
        for (std::size_t round = 0; round < 150; ++round) {
            const std::size_t bytes = 1 + (round * 97 + number * 13) % (3 * page_bytes());
            const bool native = round % 8 == 0;
            Buffer buffer(bytes, {.backend = native ? native_backend() : scripted,
                                  .scope = round % 2 == 0 ? scope.ref() : own.ref(),
                                  .label = label});
            if (!is_found(buffer.data() + bytes / 2, label) || !is_found(buffer.data() + bytes - 1, label))
                return false;
            if (round % 3 == 0) kept.push_back(std::move(buffer));
            if (kept.size() > 10) kept.erase(kept.begin());
            if (round % 25 == number) {
                if (!all_whole(Registry::instance().snapshot())) return false;
                for (const PinRecord& record : own.report().records) {
                    if (record.scope != label || record.label != label) return false;
                }
                static_cast<void>(scope.report());
                static_cast<void>(Registry::instance().counts());
            }
        }
        return true;
    });
    CHECK(fine);
    CHECK(scope.report().is_clean());
    CHECK(AuditState::now() == before);
    CHECK(scripted->outstanding().empty());
}

TEST_CASE("Blocks in flight complete on one thread while others sweep and pin", "[audit][threads]") {
    const AuditState before = AuditState::now();
    const auto backend = std::make_shared<ScriptedBackend>();
    Scope scope("in flight");
    const bool fine = on_all_threads([&](std::size_t number) {
        std::vector<std::shared_ptr<ManualToken>> uses;
        for (std::size_t round = 0; round < 100; ++round) {
            uses.push_back(ManualToken::make(7000 + number * 1000 + round));
            Buffer buffer(64, {.backend = backend, .scope = scope, .label = "used"});
            buffer.record_use(uses.back());
            buffer.reset();
            if (round >= 3) uses[round - 3]->complete();
            if (round % 10 == number) {
                if (!all_whole(Registry::instance().snapshot())) return false;
                Registry::instance().collect();
            }
        }
        for (const auto& use : uses) use->complete();
        return true;
    });
    CHECK(fine);
    CHECK(scope.close(std::chrono::minutes(1)).is_clean());
    CHECK(backend->outstanding().empty());
    CHECK(AuditState::now() == before);
}

TEST_CASE("Threads that register the same page get it one at a time", "[audit][threads]") {
    const AuditState before = AuditState::now();
    const OwnPages pages(1);
    std::atomic<int> holders{0};
    std::atomic<std::size_t> refused{0};
    const bool fine = on_all_threads([&](std::size_t number) {
        bool alone = true;
        for (int round = 0; round < 200; ++round) {
            try {
                PinnedRegistration registration(pages.bytes_at(number * 64, 64),
                                                {.backend = native_backend()});
                alone = holders.fetch_add(1) == 0 && alone;
                holders.fetch_sub(1);
            } catch (const OverlapError&) {
                ++refused;
            }
        }
        return alone;
    });
    CHECK(fine);
    CHECK(refused < thread_count * 200);
    CHECK(AuditState::now() == before);
}

TEST_CASE("A pin made on one thread may be released on another", "[audit][threads]") {
    const AuditState before = AuditState::now();
    std::vector<std::optional<Buffer>> handed(thread_count * 50);
    const auto backend = std::make_shared<ScriptedBackend>();
    on_all_threads([&](std::size_t number) {
        for (std::size_t i = 0; i < 50; ++i) {
            handed[number * 50 + i].emplace(16, PinOptions{.backend = backend, .label = "handed over"});
        }
        return true;
    });
    CHECK(Registry::instance().counts().live.pins == before.counts.live.pins + handed.size());
    on_all_threads([&](std::size_t number) {
        for (std::size_t i = 0; i < 50; ++i) handed[((number + 1) % thread_count) * 50 + i].reset();
        return true;
    });
    CHECK(AuditState::now() == before);
}

TEST_CASE("Trap 7: an entry is published after its memory is pinned, and erased before the memory is given back",
          "[audit]") {
    const auto backend = std::make_shared<WatchingBackend>();
    const OwnPages pages(1);
    const Counts before = Registry::instance().counts();
    Buffer buffer(100, {.backend = backend, .label = "watched"});
    CHECK(backend->seen.pins == before.live.pins);
    CHECK(is_found(buffer.data(), "watched"));
    buffer.reset();
    CHECK(backend->seen.pins == before.live.pins);
    CHECK_FALSE(backend->found);

    PinnedRegistration registration(pages.bytes_at(0, 100), {.backend = backend, .label = "watched"});
    CHECK(backend->seen.pins == before.live.pins);
    CHECK_FALSE(backend->found);
    CHECK(is_found(pages.data(), "watched"));
    registration.reset();
    CHECK(backend->seen.pins == before.live.pins);
    CHECK_FALSE(backend->found);
    CHECK(Registry::instance().counts() == before);
}

TEST_CASE("A page is taken from the moment a registration of it begins", "[audit]") {
    const auto backend = std::make_shared<WatchingBackend>();
    const OwnPages pages(1);
    bool overlap = false;
    backend->while_registering = [&] {
        try {
            const PinnedRegistration second(pages.bytes_at(200, 8), {.backend = native_backend()});
        } catch (const OverlapError&) {
            overlap = true;
        }
    };
    const PinnedRegistration first(pages.bytes_at(0, 8), {.backend = backend});
    CHECK(overlap);
}

TEST_CASE("Trap 13: a forked child's copies of handles are inert", "[audit]") {
    const OwnPages pages(1);
    Buffer buffer(100, {.backend = native_backend(), .label = "the parent's"});
    PinnedRegistration registration(pages.bytes_at(0, 100), {.backend = native_backend()});
    const auto use = ManualToken::make(6001);
    Buffer in_flight(100, {.backend = native_backend()});
    in_flight.record_use(use);
    in_flight.reset();
    buffer.span()[0] = std::byte{42};
    const auto refusing = std::make_shared<ScriptedBackend>();
    refusing->fail_acquire(1);
    { const Buffer fell_back(10, {.pinning = Pinning::prefer_pinned, .backend = refusing}); }
    CHECK(Registry::instance().fallbacks() != Tally{});
    const AuditState before = AuditState::now();

    const auto child = testing::run_in_child([&]() -> std::string {
        const AuditState at_first = AuditState::now();
        if (!(at_first.counts == Counts{})) return "the parent's pins are counted";
        if (at_first.kernel_locked_bytes != 0) return "locks were inherited";
        if (Registry::instance().peak_locked_bytes() != 0) return "the parent's peak is reported";
        if (Registry::instance().fallbacks() != Tally{}) return "the parent's fallbacks are reported";
        if (Registry::instance().find(buffer.data())) return "the parent's pin is found";
        if (!Registry::instance().snapshot().empty()) return "the snapshot holds a pin";
        if (buffer.is_pinned() || buffer.locked_bytes() != 0) return "the copy claims to be pinned";
        const std::byte* const memory = buffer.data();
        buffer.reset();
        registration.reset();
        use->complete();
        Registry::instance().collect();
        if (*memory != std::byte{42}) return "the memory was released";
        const Buffer own(page_bytes(), {.backend = native_backend(), .label = "the child's"});
        if (!is_found(own.data(), "the child's")) return "the child's pin is not found";
        const AuditState at_last = AuditState::now();
        if (at_last.counts.live.pins != 1) return "the child counts wrongly";
        return at_last.kernel_locked_bytes == page_bytes() ? "inert" : "the kernel counts otherwise";
    });
    CHECK(child.answer == "inert");
    CHECK(AuditState::now() == before);
    CHECK(buffer.is_pinned());
    CHECK(is_found(buffer.data(), "the parent's"));
    use->complete();
    Registry::instance().collect();
}

TEST_CASE("A child forked while other threads pin can pin itself", "[audit][threads]") {
    const AuditState before = AuditState::now();
    {
        std::atomic<bool> stop{false};
        std::vector<std::jthread> threads;
        for (int number = 0; number < 4; ++number) {
            threads.emplace_back([&stop] {
                while (!stop) {
                    const Buffer buffer(10, {.pinning = Pinning::pinned, .backend = native_backend()});
                    static_cast<void>(Registry::instance().find(buffer.data()));
                }
            });
        }
        for (int round = 0; round < 20; ++round) {
            const auto child = testing::run_in_child([] {
                ::alarm(20);  // a mutex that nobody will unlock must not hang the test
                const Buffer buffer(10, {.backend = native_backend(), .label = "child"});
                return std::string(is_found(buffer.data(), "child") ? "pinned" : "lost");
            });
            CHECK(child.answer == "pinned");
        }
        stop = true;
    }
    CHECK(AuditState::now() == before);
}

}  // namespace pinwarden::audit
