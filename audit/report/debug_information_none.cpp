// SPDX-License-Identifier: Apache-2.0
#include "report/debug_information.hpp"

namespace pinwarden::audit {

std::unique_ptr<DebugInformation> make_debug_information() { return nullptr; }

}  // namespace pinwarden::audit
