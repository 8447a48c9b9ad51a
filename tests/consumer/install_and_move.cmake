# SPDX-License-Identifier: Apache-2.0

# Installs a build tree and moves the result, since an installation must not depend on where it was made.
# Usage: cmake -DBUILD=... -DPREFIX=... -P install_and_move.cmake
file(REMOVE_RECURSE "${PREFIX}.staged" "${PREFIX}")
execute_process(
  COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}.staged"
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}.staged" "${PREFIX}")
