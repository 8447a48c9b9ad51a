#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the device tests and prints the copy bandwidths, from a folder that was built elsewhere. Needs a CUDA device and
# nothing else: no compiler, no toolkit, no network. Ends within five minutes.
#
#   tests/gpu/check.sh BUILD_FOLDER
#
# Exits with 0 if all went well, 77 if there is no device, and otherwise with 1.
set -uo pipefail

if [[ $# -ne 1 || ! -x $1/tests/gpu/gpu || ! -x $1/tests/gpu/bandwidth ]]; then
  echo "usage: $0 BUILD_FOLDER, one with the programs tests/gpu/gpu and tests/gpu/bandwidth in it" >&2
  exit 2
fi
programs=$1/tests/gpu

command -v nvidia-smi > /dev/null && nvidia-smi --query-gpu=index,name,driver_version,memory.total --format=csv

echo "== bandwidth"
timeout 90 "$programs/bandwidth" 256 20
bandwidth=$?
if [[ $bandwidth -eq 77 ]]; then
  echo "SKIPPED: no device, nothing was tested"
  exit 77
fi

echo "== device tests"
timeout 180 "$programs/gpu" --durations yes
tests=$?

echo "== bandwidth: $([[ $bandwidth -eq 0 ]] && echo passed || echo "failed ($bandwidth)")," \
  "device tests: $([[ $tests -eq 0 ]] && echo passed || echo "failed ($tests)")"
[[ $bandwidth -eq 0 && $tests -eq 0 ]]
