#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each contract of tests/mutation/mutants.py in turn, in a copy of the project, and runs the tests that must fail.

`run.py [PATTERN]`, PATTERN being a regular expression over contracts and files. A mutant survives if its tests pass, or
if it does not compile, which shows nothing. Exit status 1 if one survived.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mutants import MUTANTS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutation"
SOURCE = FOLDER / "source"
BUILD = FOLDER / "build"
TIME_LIMIT = 300


def copy_project():
    """A copy of the sources, in which files that did not change keep their times, so that little is built again."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                           capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, SOURCE / name
        if not source.is_file():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def build(*targets):
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count()))
    return subprocess.run(["cmake", "--build", BUILD, "--parallel", jobs, "--target", *targets], capture_output=True,
                          text=True, check=False)


def program_of(target):
    found = [path for path in BUILD.rglob(target) if path.is_file() and os.access(path, os.X_OK)]
    if len(found) != 1:
        sys.exit(f"the program of '{target}' is not to be found below {BUILD}")
    return found[0]


def tests_pass(target):
    try:
        return subprocess.run([program_of(target), "--abort", "--order", "decl"], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=TIME_LIMIT).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def verdict(mutant):
    """Why the mutant survived; None if its tests failed."""
    path = SOURCE / mutant.file
    original = path.read_text(encoding="utf-8")
    if original.count(mutant.old) != 1:
        return f"its text is {original.count(mutant.old)} times in {mutant.file}"
    try:
        path.write_text(original.replace(mutant.old, mutant.new), encoding="utf-8")
        answer = build(mutant.program)
        if answer.returncode != 0:
            return "it does not compile:\n" + answer.stdout[-3000:]
        return f"{mutant.program} passes" if tests_pass(mutant.program) else None
    finally:
        path.write_text(original, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if re.search(options.pattern, f"{mutant.contract} {mutant.file}")]
    if not chosen:
        sys.exit("no mutant matches")

    copy_project()
    # As fast to build as can be: no optimisation, no debug information, tests that need not be linked again. Warnings
    # are not errors, because a mutant may leave something unused.
    subprocess.run(["cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=", "-DBUILD_SHARED_LIBS=ON",
                    "-DPINWARDEN_CUDA=OFF", "-DPINWARDEN_WARNINGS_AS_ERRORS=OFF"],
                   check=True, stdout=subprocess.DEVNULL)
    programs = sorted({mutant.program for mutant in chosen})
    answer = build(*programs)
    if answer.returncode != 0:
        sys.exit(answer.stdout)
    for program in programs:
        if not tests_pass(program):
            sys.exit(f"{program} fails without any mutant")

    survivors = 0
    for number, mutant in enumerate(chosen, start=1):
        started = time.monotonic()
        survived = verdict(mutant)
        survivors += survived is not None
        print(f"{number:3} of {len(chosen)}: {mutant.contract}: {f'SURVIVED: {survived}' if survived else 'killed'} "
              f"({mutant.program}, {time.monotonic() - started:.0f} s)", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants were killed")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
