// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// `PINWARDEN_REPORT_AT_EXIT=FILE`: the audit of the whole process, written when it ends.
///
/// The file's ending chooses the format (see report_format.hpp); `%p` in the name stands for the process's number. A
/// child made by `fork` writes only if the name has one, since the file is its parent's.

namespace pinwarden::audit {

/// Arranges for the report if the environment asks for it; to be called once, as early as possible, so that the
/// report is written after the destructors of static handles.
void arm_report_at_exit() noexcept;

}  // namespace pinwarden::audit
