#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each trap that docs/testing.md lists has a test that bears its number, in each of the files named, and each test that
bears a number is in the list."""

import re

from project import CODE, Problem, main

PAGE = "docs/testing.md"
ROW = re.compile(r"^\| (\d+) \|.*\|([^|]*)\|$")
NAMED = re.compile(r"`(tests/[^`]+)`")
TEST = re.compile(r"\bTrap (\d+):")


def check(project):
    listed = {(int(row[1]), file): number
              for number, line in (project.lines(PAGE) if project.exists(PAGE) else [])
              if (row := ROW.match(line)) for file in NAMED.findall(row[2])}
    borne = {(int(trap), path)
             for path in project.files("tests", suffixes=(*CODE, ".py", ".sh", ".txt"))
             if not path.startswith("tests/policy/")
             for trap in TEST.findall(project.text(path))}
    for (trap, file), number in sorted(listed.items()):
        if (trap, file) not in borne:
            yield Problem(PAGE, number, f"says that {file} tests trap {trap}, but nothing there is named 'Trap {trap}: ...'")
    for trap, path in sorted(borne - listed.keys()):
        yield Problem(path, 0, f"tests trap {trap}, but {PAGE} does not list it there")


if __name__ == "__main__":
    main(check)
