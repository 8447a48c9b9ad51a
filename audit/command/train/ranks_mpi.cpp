// SPDX-License-Identifier: Apache-2.0
#include "command/train/ranks.hpp"

#include <pinwarden/mpi/session.hpp>

#include <optional>

namespace pinwarden::command {

class Ranks::Impl {
public:
    // One process needs no launcher, and starts faster without.
    Impl() {
        if (mpi::is_launched()) session_.emplace();
        all_ = session_ ? session_->world() : zero::single_rank();
    }

    [[nodiscard]] const zero::CommunicatorPtr& all() const noexcept { return all_; }

    void end_all(int status) noexcept {
        if (session_) session_->abort(status);
    }

private:
    std::optional<mpi::Session> session_;
    zero::CommunicatorPtr all_;
};

Ranks::Ranks() : impl_(std::make_unique<Impl>()) {}
Ranks::~Ranks() = default;

const zero::CommunicatorPtr& Ranks::all() const noexcept { return impl_->all(); }

void Ranks::end_all(int status) noexcept { impl_->end_all(status); }

}  // namespace pinwarden::command
