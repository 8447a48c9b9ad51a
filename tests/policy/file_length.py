#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file stays under 400 lines: one concept per file. Code lines have 120 columns at most."""

from project import CODE, Problem, main

MOST_LINES = 399
MOST_COLUMNS = 120

# Texts that are not this project's to shorten, and data.
EXEMPT = ("LICENSE",)
EXEMPT_SUFFIXES = (".txt", ".json", ".svg", ".png")


def check(project):
    for path in project.files():
        if path in EXEMPT or (path.endswith(EXEMPT_SUFFIXES) and not path.endswith("CMakeLists.txt")):
            continue
        lines = project.lines(path)
        if len(lines) > MOST_LINES:
            yield Problem(path, len(lines), f"has {len(lines)} lines; {MOST_LINES} are allowed")
        if path.endswith(CODE):
            for number, line in lines:
                if len(line) > MOST_COLUMNS:
                    yield Problem(path, number, f"has {len(line)} columns; {MOST_COLUMNS} are allowed")


if __name__ == "__main__":
    main(check)
