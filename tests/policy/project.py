# SPDX-License-Identifier: Apache-2.0
"""The project's files as the policies see them, and the way a policy reports and exits.

A policy is a module with one function `check(project)` that yields problems. Run as a program, it prints them, one a
line, as `path:line: text`, and exits with 1 if there is any.
"""

import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

IGNORED_FOLDERS = {".git", "build", ".cache", "__pycache__"}
# Inputs of the static auditor, taken as they are: not code of this project.
INPUT_FOLDERS = {"tests/audit_cases/scan/shared", "tests/audit_cases/scan/own", "audit/scan/prelude"}
CODE = (".cpp", ".hpp", ".cu", ".cuh", ".h", ".c")
PRODUCT_FOLDERS = ("include", "src", "audit")


class Problem(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


class Project:
    def __init__(self, root):
        self.root = Path(root)

    def files(self, *folders, suffixes=None):
        """The paths of all files below `folders` (all without any), relative to the root, sorted."""
        found = []
        for start in folders or (".",):
            for folder, names, files in os.walk(self.root / start):
                below = Path(folder).relative_to(self.root)
                names[:] = [
                    name
                    for name in names
                    if name not in IGNORED_FOLDERS and (below / name).as_posix() not in INPUT_FOLDERS
                ]
                for name in files:
                    if suffixes is None or name.endswith(suffixes):
                        found.append((Path(folder) / name).relative_to(self.root).as_posix())
        return sorted(found)

    def text(self, path):
        """The file's text; empty for one that is no text."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return ""

    def lines(self, path):
        """Pairs of line number, from one, and line."""
        return list(enumerate(self.text(path).splitlines(), start=1))

    def exists(self, path):
        return (self.root / path).exists()


# Raw strings are not told apart: the project's own code keeps nothing in them that a policy looks for.
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)


def code_without_comments_and_strings(text):
    """C++ with comments and literals blanked out, line by line as before."""
    return TOKENS.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(project, path):
    """Triples of line number, `<` or `"`, and the name included."""
    for number, line in project.lines(path):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2]


def main(check):
    """Runs one policy over the project that this file is part of, or over the folder named as the argument."""
    root = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    problems = list(check(Project(root)))
    for problem in problems:
        print(problem)
    print(f"{Path(sys.argv[0]).name}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
