// SPDX-License-Identifier: Apache-2.0
#pragma once

/// @file
/// What the program's exit status means, the same for every subcommand.

namespace pinwarden::command {

enum ExitStatus : int {
    exit_clean = 0,          ///< it ran, and there is nothing to complain about
    exit_findings = 1,       ///< it ran, and found a pin that is live, or a training that is not sound
    exit_could_not_run = 2,  ///< it did not do what it was asked to; one line on stderr says why
    exit_by_signal = 128,    ///< plus the signal's number: it was told to stop, and found nothing
};

}  // namespace pinwarden::command
