// SPDX-License-Identifier: Apache-2.0
/// @file
/// What happens when `RLIMIT_MEMLOCK` is too small, in a child that is bound by it.
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/resource.h>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/core/bytes.hpp>
#include <pinwarden/core/error.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/own/pinned_registration.hpp>
#include <pinwarden/own/pinned_scratch.hpp>

#include <support/audit_state.hpp>
#include <support/child_process.hpp>
#include <support/own_pages.hpp>

namespace pinwarden::testing {

namespace {

using Catch::Matchers::ContainsSubstring;

const std::size_t page = page_bytes();
const PinOptions native{.backend = native_backend()};

// Pins two pages under a limit of `limit_pages`, then runs `acquire`, which is to be refused.
// The answer is the error's text, or what was wrong.
ChildResult refused_under_limit(std::size_t limit_pages, const std::function<void()>& acquire) {
    return run_in_child([limit_pages, acquire] {
        const rlimit limit{limit_pages * page, limit_pages * page};
        if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) return std::string("setrlimit failed");
        become_unprivileged();
        const PinnedBuffer<std::byte> fits(limit_pages == 0 ? 0 : 2 * page, native);
        const AuditState before = AuditState::now();
        try {
            acquire();
        } catch (const PinError& error) {
            if (!(AuditState::now() == before)) return std::string("something stayed pinned");
            if (error.refusal().bytes_locked != before.kernel_locked_bytes)
                return std::string("wrong bytes pinned");
            if (error.refusal().lock_limit != limit_pages * page) return std::string("wrong limit");
            return std::string(error.what());
        }
        return std::string("no error");
    });
}

void check_text(const std::string& text, std::size_t asked) {
    CHECK_THAT(text, ContainsSubstring("the native backend could not pin " + format_bytes(asked)));
    CHECK_THAT(
        text, ContainsSubstring("mlock(0x") && ContainsSubstring("answered ENOMEM (Cannot allocate memory)"));
    CHECK_THAT(text, ContainsSubstring("this process has locked " + format_bytes(2 * page)));
    CHECK_THAT(text, ContainsSubstring("RLIMIT_MEMLOCK is " + format_bytes(16 * page)));
    CHECK_THAT(text, ContainsSubstring("the limit leaves " + format_bytes(14 * page)));
    CHECK_THAT(text, ContainsSubstring("raise it (`ulimit -l`") && ContainsSubstring("CAP_IPC_LOCK") &&
                         ContainsSubstring("or pin less"));
}

}  // namespace

TEST_CASE("A buffer above the lock limit is refused with all figures and the way out", "[fault]") {
    const std::size_t asked = 15 * page - 100;
    const ChildResult child =
        refused_under_limit(16, [asked] { PinnedBuffer<std::byte>(asked, native).reset(); });
    CHECK(child.exit_status == 0);
    check_text(child.answer, asked);
}

TEST_CASE("A scratch above the lock limit is refused in the same words", "[fault]") {
    const ChildResult child =
        refused_under_limit(16, [] { PinnedScratch<std::byte>(40 * page, native).reset(); });
    check_text(child.answer, 40 * page);
}

TEST_CASE("A registration above the lock limit is refused in the same words", "[fault]") {
    const ChildResult child = refused_under_limit(16, [] {
        const OwnPages pages(20);
        PinnedRegistration(pages.bytes_at(0, 20 * page), native).reset();
    });
    check_text(child.answer, 20 * page);
}

TEST_CASE("A large block on huge pages above the lock limit is refused too", "[fault]") {
    const ChildResult child =
        refused_under_limit(16, [] { PinnedBuffer<std::byte>(std::size_t{5} << 20, native).reset(); });
    check_text(child.answer, std::size_t{5} << 20);
}

TEST_CASE("Without any lock limit left nothing can be pinned, and the error says so", "[fault]") {
    const ChildResult child = refused_under_limit(0, [] { PinnedBuffer<std::byte>(1, native).reset(); });
    CHECK_THAT(child.answer, ContainsSubstring("RLIMIT_MEMLOCK is 0 bytes") &&
                                 ContainsSubstring("the limit leaves 0 bytes: raise it"));
}

TEST_CASE("What fits into the lock limit is pinned, to its last page", "[fault]") {
    const ChildResult child =
        refused_under_limit(16, [] { PinnedBuffer<std::byte>(14 * page, native).reset(); });
    CHECK(child.answer == "no error");
}

TEST_CASE("A preferred pin above the lock limit falls back, and says so", "[fault]") {
    const ChildResult child = run_in_child([] {
        const rlimit limit{4 * page, 4 * page};
        ::setrlimit(RLIMIT_MEMLOCK, &limit);
        become_unprivileged();
        const AuditState before = AuditState::now();
        const audit::Tally fallbacks = audit::Registry::instance().fallbacks();
        PinnedBuffer<std::byte> buffer(100 * page,
                                       {.pinning = Pinning::prefer_pinned, .backend = native_backend()});
        buffer.span()[100 * page - 1] = std::byte{1};
        const bool fell_back = buffer.fell_back() && !buffer.is_pinned() && AuditState::now() == before &&
                               audit::Registry::instance().fallbacks().bytes == fallbacks.bytes + 100 * page;
        return std::string(fell_back ? "fell back" : "did not");
    });
    CHECK(child.answer == "fell back");
}

}  // namespace pinwarden::testing
