// SPDX-License-Identifier: Apache-2.0
#include <pinwarden/accelerator/accelerator.hpp>

namespace pinwarden {

Stream::~Stream() = default;

Accelerator::~Accelerator() = default;

}  // namespace pinwarden
