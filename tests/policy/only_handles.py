#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The engines hold handles only: `zero` and `superoffload` call nothing that pins, own nothing through a raw pointer,
and read no configuration on the way out.

The way out is every destructor, and every function named as in RELEASING: whoever releases by what a flag says forgets
what was acquired under another flag.
"""

import re
from pathlib import PurePosixPath

from project import CODE, Problem, code_without_comments_and_strings, main

ENGINES = ("zero", "superoffload")
FOLDERS = tuple(f"{root}/{engine}" for engine in ENGINES for root in ("include/pinwarden", "src"))

PIN_CALL = re.compile(
    r"\b(?:mlock\w*|munlock\w*|SYS_mlock\w*|SYS_munlock\w*|MAP_LOCKED|mmap|cudaHost\w*|cudaMallocHost|cudaFreeHost|cuMemHost\w*"
    r"|HostBlock|UnpinAnswer|register_memory|unregister_memory|native_backend|pageable_backend|detail::Pin)\b"
    r"|\bbackend\w*\s*(?:->|\.)\s*(?:allocate|deallocate)\b")
RAW_OWNER = re.compile(
    r"\bnew\b(?!\s*\((?!\s*std::nothrow))|\boperator\s+new\b|\bdelete\b(?!\s*;)|\b(?:malloc|calloc|realloc|aligned_alloc|posix_memalign|free)\s*\("
    r"|(?:->|\.)\s*(?:allocate|deallocate|release)\s*\(")
DELETED = re.compile(r"=\s*delete\b")

RELEASING = ("destroy", "release_handles", "release", "reset", "clear", "shutdown", "stop", "join")
RELEASE_FUNCTION = re.compile(
    r"(?:~\w+|\b(?:" + "|".join(RELEASING) + r"))\s*\([^(){};]*\)\s*(?:const\s*)?(?:noexcept\s*)?(?:override\s*)?\{")
CONFIGURATION = re.compile(
    r"\b(?:config_?|configuration_?|config\(\)|pin_memory|getenv|OffloadDevice|OffloadOptimizerConfig|OffloadParamConfig|Pinning"
    r"|optimizer_on_host_|default_backend|super_offload)\b")


def body_from(code, opening):
    """The text between the brace at `opening` and the one that closes it."""
    depth = 0
    for position in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[position], 0)
        if depth == 0:
            return code[opening:position]
    return code[opening:]


def check(project):
    for path in project.files(*FOLDERS, suffixes=CODE):
        code = code_without_comments_and_strings(project.text(path))
        for number, line in enumerate(code.splitlines(), start=1):
            if found := PIN_CALL.search(line):
                yield Problem(path, number, f"uses {found[0]}; an engine holds handles, which pin by themselves")
            if found := RAW_OWNER.search(DELETED.sub("", line)):
                yield Problem(path, number, f"uses '{found[0].strip()}'; what an engine owns is in a handle or a container")
        for function in RELEASE_FUNCTION.finditer(code):
            body = body_from(code, function.end() - 1)
            if found := CONFIGURATION.search(body):
                number = code.count("\n", 0, function.end() + found.start()) + 1
                name = PurePosixPath(function[0].split("(")[0]).name
                yield Problem(path, number, f"reads {found[0]} in {name}(), which releases: it does what handles know")


if __name__ == "__main__":
    main(check)
