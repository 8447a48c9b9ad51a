#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The top level, and the first level below it, hold what docs/architecture.md says and nothing else."""

from project import IGNORED_FOLDERS, Problem, main

TOP_LEVEL = {
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "run",
    "include", "src", "audit", "tests", "sanitizers", "docs",
    ".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".git", ".gitattributes", ".gitignore",
}
BELOW = {
    ".ci": {"run"},
    "include": {"pinwarden"},
    "src": {
        "CMakeLists.txt", "core", "backend", "accelerator", "cuda", "own", "pool", "zero", "superoffload", "package",
    },
    "audit": {"CMakeLists.txt", "registry", "report", "command", "scan", "listeners"},
    "tests": {
        "CMakeLists.txt", "support", "unit", "conformance", "fault", "compile_fail", "audit_cases", "command",
        "stress", "consumer", "gpu", "bench", "policy", "mutation", "fuzz",
    },
}
# Left by builds and ignored by Git.
LEFT_BY_BUILDS = IGNORED_FOLDERS | {"compile_commands.json"}


def check(project):
    for folder, allowed in ({".": TOP_LEVEL} | BELOW).items():
        if not project.exists(folder):
            continue
        for entry in sorted((project.root / folder).iterdir()):
            if entry.name not in allowed | LEFT_BY_BUILDS:
                where = "the top level" if folder == "." else f"{folder}/"
                yield Problem(entry.relative_to(project.root).as_posix(), 0, f"has no place in {where}")


if __name__ == "__main__":
    main(check)
