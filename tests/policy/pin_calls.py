#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages are locked and unlocked in src/backend/ and in folders named `cuda` only, and backends are called by the
handles and the pool only: whoever else wants pinned memory holds a handle. No code at all runs in a callback of a CUDA
stream, where the runtime permits no call and a free would fail."""

import re
from pathlib import PurePosixPath

from project import CODE, PRODUCT_FOLDERS, Problem, code_without_comments_and_strings, main

LOCKING = re.compile(
    r"\b(?:(?:SYS_|__NR_)?(?:mlock2?|munlock|mlockall|munlockall)|MAP_LOCKED|SHM_LOCK"
    r"|cudaHostAlloc|cudaMallocHost|cudaFreeHost|cudaHostRegister|cudaHostUnregister"
    r"|cuMemHostAlloc|cuMemAllocHost|cuMemFreeHost|cuMemHostRegister|cuMemHostUnregister)\b")
BACKEND_USE = re.compile(r"\b(?:HostBlock|UnpinAnswer|register_memory|unregister_memory|detail::Pin)\b")
CALLBACK = re.compile(r"\b(?:cudaLaunchHostFunc|cudaStreamAddCallback|cuLaunchHostFunc|cuStreamAddCallback)\w*")

LOCKING_FOLDERS = ("src/backend/",)
BACKEND_FOLDERS = ("src/backend/", "include/pinwarden/backend/", "src/own/", "include/pinwarden/own/",
                   "src/pool/", "include/pinwarden/pool/", "audit/registry/")


def check(project):
    for path in project.files(*PRODUCT_FOLDERS, "docs/examples", suffixes=CODE):
        in_cuda = "cuda" in PurePosixPath(path).parts
        code = code_without_comments_and_strings(project.text(path))
        for number, line in enumerate(code.splitlines(), start=1):
            if (found := LOCKING.search(line)) and not in_cuda and not path.startswith(LOCKING_FOLDERS):
                yield Problem(path, number, f"uses {found[0]}; only backends lock pages")
            if (found := BACKEND_USE.search(line)) and not in_cuda and not path.startswith(BACKEND_FOLDERS):
                yield Problem(path, number, f"uses {found[0]}; pinned memory is held in handles")
            if found := CALLBACK.search(line):
                yield Problem(path, number, f"uses {found[0]}; a stream's callback may make no CUDA call")


if __name__ == "__main__":
    main(check)
