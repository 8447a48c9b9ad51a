#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A unit test has the path and the name of the header it tests: tests/unit/<layer>/<concept>_test.cpp. Helpers of the
tests are tested beside what they help with."""

from pathlib import PurePosixPath

from layering import layer_of
from project import Problem, main

SUFFIX = "_test.cpp"


def check(project):
    concepts = {(layer_of(path), PurePosixPath(path).stem)
                for path in project.files("include", "src", "audit", suffixes=(".hpp", ".h"))}
    helpers = {PurePosixPath(path).stem for path in project.files("tests/support", suffixes=(".hpp",))}
    for path in project.files("tests/unit", suffixes=(".cpp",)):
        parts = PurePosixPath(path).parts
        if not path.endswith(SUFFIX):
            yield Problem(path, 0, f"is not named <concept>{SUFFIX}; helpers belong in tests/support/")
            continue
        concept = parts[-1].removesuffix(SUFFIX)
        if len(parts) < 4 or ((parts[2], concept) not in concepts and concept not in helpers):
            yield Problem(path, 0, f"tests no header: there is no {concept}.hpp in that layer")


if __name__ == "__main__":
    main(check)
