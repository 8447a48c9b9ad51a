#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs a program through the pkg-config files of an installation, as a makefile would.
# Usage: build_and_run.sh COMPILER PREFIX LIBRARY_FOLDER SOURCE OUTPUT
set -euo pipefail

compiler=$1 prefix=$2 library_folder=$3 source=$4 output=$5

export PKG_CONFIG_PATH=$prefix/$library_folder/pkgconfig
read -r -a flags <<<"$(pkg-config --cflags --libs pinwarden_zero)"
# The paths must be those of the place the installation was moved to.
[[ " ${flags[*]} " == *"$prefix"* ]] || { echo "pkg-config does not name $prefix: ${flags[*]}" >&2; exit 1; }

mkdir -p -- "$(dirname -- "$output")"
# shellcheck disable=SC2086 # CXXFLAGS is a list of words
"$compiler" -std=c++20 ${CXXFLAGS:-} -DUSE_ZERO "$source" "${flags[@]}" -Wl,-rpath,"$prefix/$library_folder" -o "$output"
exec "$output"
