// SPDX-License-Identifier: Apache-2.0
#include "command/train/ranks.hpp"

#include <pinwarden/core/error.hpp>

#include <cstdlib>

namespace pinwarden::command {

// A build without MPI.
class Ranks::Impl {
public:
    Impl() {
        for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
            const char* const value = std::getenv(variable);
            if (value == nullptr || std::atoi(value) <= 1) continue;
            throw UnavailableError(
                std::string(variable) + " says that " + value +
                " ranks were started, and this program was built without MPI; build it with "
                "-DPINWARDEN_MPI=ON, or start one process");
        }
    }

    [[nodiscard]] const zero::CommunicatorPtr& all() const noexcept { return all_; }

private:
    zero::CommunicatorPtr all_ = zero::single_rank();
};

Ranks::Ranks() : impl_(std::make_unique<Impl>()) {}
Ranks::~Ranks() = default;

const zero::CommunicatorPtr& Ranks::all() const noexcept { return impl_->all(); }

void Ranks::end_all(int) noexcept {}

}  // namespace pinwarden::command
