// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <pinwarden/backend/native_backend.hpp>
#include <pinwarden/backend/pageable_backend.hpp>
#include <pinwarden/backend/scripted_backend.hpp>
#include <pinwarden/pool/pinned_pool.hpp>

#include <conformance/pin_backend_contract.hpp>

namespace pinwarden::testing {

namespace {

const PinBackendCaseEntry native({"native", [] { return native_backend(); }, true});
const PinBackendCaseEntry pageable({"pageable", [] { return pageable_backend(); }, false});
const PinBackendCaseEntry scripted({"scripted", [] { return std::make_shared<ScriptedBackend>(); }, false});
const PinBackendCaseEntry scripted_native({"scripted over native",
                                           [] { return std::make_shared<ScriptedBackend>(native_backend()); },
                                           true});
const PinBackendCaseEntry pooled_native({"pool over native",
                                         [] { return std::make_shared<PinnedPool>(native_backend(), 1 << 20); },
                                         true});

}  // namespace

}  // namespace pinwarden::testing
