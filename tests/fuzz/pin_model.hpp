// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// Handles and what must be true of them, moved by steps of three numbers. What is not true ends the program.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <pinwarden/audit/registry.hpp>
#include <pinwarden/audit/scope.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/own/pinned_buffer.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include <support/manual_token.hpp>

namespace pinwarden::testing {

class PinModel {
public:
    PinModel();

    /// One operation on a slot; any numbers are one.
    void step(std::uint8_t operation, std::uint8_t slot, std::uint8_t argument);

    /// Ends the program if the registry, the backend or the memory is not as the model says.
    void check();

    /// Drops everything, after which nothing may be left.
    void end();

private:
    using Token = std::shared_ptr<ManualToken>;

    struct Slot {
        PinnedBuffer<std::uint8_t> buffer;
        std::size_t bytes = 0;
        std::uint8_t content = 0;
        bool pinned = false;
        std::size_t scope = 0;
        std::vector<Token> uses;
    };
    /// Dropped while a use was not complete.
    struct Waiting {
        std::size_t bytes;
        std::vector<Token> uses;
    };

    void pin(Slot& slot, std::uint8_t argument);
    void drop(Slot& slot);
    void move(Slot& from, Slot& to);
    void record_use(Slot& slot, std::uint8_t argument);
    void settle();
    void check_slot(const Slot& slot) const;

    std::shared_ptr<ScriptedBackend> backend_;
    std::shared_ptr<PinnedPool> pool_;
    std::array<audit::Scope, 2> scopes_;
    std::array<Slot, 6> slots_;
    std::vector<Waiting> waiting_;
    std::vector<Token> tokens_;
    audit::Counts before_;
    std::size_t checks_ = 0;
};

}  // namespace pinwarden::testing
