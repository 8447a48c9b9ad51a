#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No source is left out of the build: each is named by the nearest CMakeLists.txt or by its path from the root, and
each folder with a CMakeLists.txt is added by the one above.

A test that nobody builds passes for ever.
"""

import re
from pathlib import PurePosixPath

from project import Problem, main

LISTS = "CMakeLists.txt"

# Projects of their own, which the tests configure.
PROJECTS_OF_THEIR_OWN = ("tests/consumer/find_package/", "tests/consumer/add_subdirectory/",
                         "tests/consumer/listener/")
# Added from another folder than the one above.
ADDED_ELSEWHERE = {"docs/examples": "tests/CMakeLists.txt"}


def nearest_lists(project, folder):
    """The CMakeLists.txt of a folder or of the nearest one above it."""
    while not project.exists((PurePosixPath(folder) / LISTS).as_posix()):
        folder = PurePosixPath(folder).parent
    return (PurePosixPath(folder) / LISTS).as_posix()


def words_of(project, lists):
    return set(project.text(lists).replace("(", " ").replace(")", " ").replace("${CMAKE_CURRENT_SOURCE_DIR}/", "").split())


def check(project):
    all_lists = project.files("src", "audit", "tests", "docs", suffixes=(LISTS,))
    named_anywhere = set().union(*(words_of(project, lists) for lists in all_lists))
    for path in project.files("src", "audit", "tests", "docs", suffixes=(".cpp", ".cu")):
        if path.startswith(PROJECTS_OF_THEIR_OWN):
            continue
        lists = nearest_lists(project, PurePosixPath(path).parent)
        name = PurePosixPath(path).relative_to(PurePosixPath(lists).parent).as_posix()
        # Some functions take the name without its suffix.
        named = words_of(project, lists) & {name, name.rpartition(".")[0]}
        if not named and f"${{PROJECT_SOURCE_DIR}}/{path}" not in named_anywhere:
            yield Problem(path, 0, f"is not built: {lists} does not name it")
    for path in all_lists:
        if path.startswith(PROJECTS_OF_THEIR_OWN):
            continue
        folder = PurePosixPath(path).parent
        if folder.as_posix() in ADDED_ELSEWHERE:
            parent, name = ADDED_ELSEWHERE[folder.as_posix()], f"${{PROJECT_SOURCE_DIR}}/{folder}"
        else:
            parent = nearest_lists(project, folder.parent)
            name = folder.relative_to(PurePosixPath(parent).parent).as_posix()
        if not re.search(rf"add_subdirectory\(\s*{re.escape(name)}[\s)]", project.text(parent)):
            yield Problem(path, 0, f"is not built: {parent} does not add its folder")


if __name__ == "__main__":
    main(check)
