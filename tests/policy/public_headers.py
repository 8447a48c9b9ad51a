#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A public header shows no third-party header but GSL, says at its top what it is for, and is included once."""

import re

from project import Problem, includes, main

STANDARD = re.compile(r"[a-z0-9_]+")  # no folder, no suffix


def check(project):
    for path in project.files("include", suffixes=(".hpp", ".h")):
        for number, _, name in includes(project, path):
            if not (name.startswith(("pinwarden/", "gsl/")) or STANDARD.fullmatch(name)):
                yield Problem(path, number, f"includes '{name}'; a public header shows GSL and the standard library only")
        text = project.text(path)
        if "#pragma once" not in text:
            yield Problem(path, 0, "lacks '#pragma once'")
        if "/// @file" not in text:
            yield Problem(path, 0, "lacks the '/// @file' text that says what it is for")


if __name__ == "__main__":
    main(check)
