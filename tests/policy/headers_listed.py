#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header is in its umbrella header and in the FILE_SET of exactly one target, and nothing else is.

The umbrella of a layer that is a component of the package by itself is `pinwarden/<layer>.hpp`; that of all others is
`pinwarden/pinwarden.hpp`.
"""

import re
from pathlib import PurePosixPath

from project import Problem, includes, main

INCLUDE = "include"
MAIN_UMBRELLA = "include/pinwarden/pinwarden.hpp"
COMPONENTS = ("cuda", "zero", "superoffload")
# Each of its headers is a component by itself, which nobody wants together with another.
LONE_HEADERS = "listeners"
LISTED = re.compile(r"include/(pinwarden/[\w/.]+\.hpp)")


def umbrella_of(path):
    layer = PurePosixPath(path).parts[2]
    return f"include/pinwarden/{layer}.hpp" if layer in COMPONENTS else MAIN_UMBRELLA


def check(project):
    headers = project.files("include", suffixes=(".hpp", ".h"))
    umbrellas = [path for path in headers if len(PurePosixPath(path).parts) == 3]
    included = {path: {f"include/{name}" for _, _, name in includes(project, path)} for path in umbrellas}
    for path in headers:
        if PurePosixPath(path).parts[2] != LONE_HEADERS and path not in umbrellas and path not in included.get(umbrella_of(path), set()):
            yield Problem(path, 0, f"is not included by {umbrella_of(path)}")

    listed = {}
    for path in project.files("src", "audit", suffixes=("CMakeLists.txt", ".cmake")):
        for number, line in project.lines(path):
            for found in LISTED.finditer(line):
                listed.setdefault(f"include/{found[1]}", []).append((path, number))
    for path in headers:
        places = listed.get(path, [])
        if not places:
            yield Problem(path, 0, "is in no target's FILE_SET HEADERS")
        for place, number in places[1:]:
            yield Problem(place, number, f"lists {path} once more")
    for path, places in listed.items():
        if path not in headers:
            yield Problem(*places[0], f"lists {path}, which does not exist")


if __name__ == "__main__":
    main(check)
