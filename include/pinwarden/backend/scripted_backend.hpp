// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// A backend that fails when it is told to, for the tests of code that pins.
///
/// It forwards to another backend, the pageable one unless told otherwise, and records every call with its
/// addresses, so that a test can count releases and check which block was released.
///
/// ```
/// auto backend = std::make_shared<pinwarden::ScriptedBackend>();
/// backend->fail_acquire(3);                       // the third allocation or registration throws PinError
/// run_the_code_under_test(backend);
/// REQUIRE(backend->outstanding().empty());        // what was acquired was released, once each
/// ```

#include <cstddef>
#include <mutex>
#include <string_view>
#include <vector>

#include <pinwarden/backend/pin_backend.hpp>
#include <pinwarden/core/export.hpp>

namespace pinwarden {

/// Forwards, records and fails on demand. Thread-safe.
class PINWARDEN_API ScriptedBackend final : public PinBackend {
public:
    enum class Operation { allocate, deallocate, register_memory, unregister_memory };

    /// One call that was made, in the order of the calls.
    struct Call {
        Operation operation;
        HostBlock block;                         ///< acquired or released; a refused one has address and bytes asked
        bool refused = false;                    ///< an acquisition that threw
        UnpinStatus answer = UnpinStatus::done;  ///< of a release
    };

    /// Forwards to the pageable backend and claims to pin: nothing is locked, so tests of any size run anywhere.
    /// Its blocks report the whole pages they would lock.
    ScriptedBackend();

    /// Forwards to `inner`, whose memory is really pinned if `inner` pins.
    explicit ScriptedBackend(PinBackendPtr inner);
    ~ScriptedBackend() override;

    /// The `nth` acquisition from now on, counted from one, throws PinError; 0 clears the order.
    void fail_acquire(std::size_t nth);

    /// Every release from now on answers `answer`; `UnpinStatus::done` restores the normal behaviour.
    void answer_release(UnpinStatus answer);

    /// All calls so far.
    [[nodiscard]] std::vector<Call> calls() const;

    /// Acquisitions so far, failed ones included.
    [[nodiscard]] std::size_t acquire_count() const;

    /// Blocks that were acquired and for which no release has been asked, in the order of acquisition.
    [[nodiscard]] std::vector<HostBlock> outstanding() const;

    [[nodiscard]] std::string_view name() const noexcept override;
    [[nodiscard]] bool pins() const noexcept override;
    [[nodiscard]] HostBlock allocate(std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer deallocate(const HostBlock& block) noexcept override;
    [[nodiscard]] HostBlock register_memory(std::byte* address, std::size_t bytes) override;
    [[nodiscard]] UnpinAnswer unregister_memory(const HostBlock& block) noexcept override;

private:
    HostBlock acquire(Operation operation, std::byte* address, std::size_t bytes);
    UnpinAnswer release(Operation operation, const HostBlock& block) noexcept;
    UnpinAnswer forward_release(Operation operation, const HostBlock& block) noexcept;

    const PinBackendPtr inner_;
    const bool pretends_;  ///< reports whole locked pages although `inner_` locks none
    mutable std::mutex mutex_;
    std::vector<Call> calls_;  ///< always has room for a release of every block that is outstanding
    std::size_t acquired_ = 0;
    std::size_t outstanding_ = 0;
    std::size_t fail_at_ = 0;  ///< value of `acquired_` at which to fail; 0 for never
    UnpinStatus release_answer_ = UnpinStatus::done;
};

}  // namespace pinwarden
