#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No text announces unfinished work, every source file names its licence, and lines end cleanly."""

import re

from project import Problem, main

# Written in two parts, so that this file does not contain them itself.
UNFINISHED = re.compile(r"\b(?:" + "|".join(
    left + right for left, right in (
        ("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK"), ("not imple", "mented"), ("for n", "ow"), ("com", "ing soon")
    )) + r")\b")

LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = (".cpp", ".hpp", ".cu", ".py", ".sh", ".cmake", "CMakeLists.txt")


def check(project):
    for path in project.files():
        if path == "LICENSE":
            continue
        lines = project.lines(path)
        for number, line in lines:
            if found := UNFINISHED.search(line):
                yield Problem(path, number, f"says '{found[0]}'")
            if line != line.rstrip() and not path.endswith(".txt"):
                yield Problem(path, number, "ends in white space")
        if path.endswith(SOURCES) or path in ("run", ".ci/run"):
            if not any(LICENCE in line for _, line in lines[:2]):
                yield Problem(path, 1, f"does not begin with '{LICENCE}'")


if __name__ == "__main__":
    main(check)
