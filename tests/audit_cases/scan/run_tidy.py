#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The distribution's clang-tidy with the auditor as a plugin reports exactly the marked lines of the cases that need
no headers but the system's own.

usage: run_tidy.py CLANG_TIDY PLUGIN [CASE_FOLDER...]
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from run_cases import expected

WARNING = re.compile(r"^(/[^:\n]+):(\d+):\d+: warning: .*\[pinwarden-([a-z-]+)\]$", re.MULTILINE)
FOREIGN = ("cuda", "hip/", "infiniband", "liburing")


def check(tidy, plugin, case):
    standard = "-std=c11" if case.suffix == ".c" else "-std=c++17"
    command = [tidy, "-load", plugin, "-checks=-*,pinwarden-*", "-quiet", str(case), "--", standard]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    found = {(file, int(line), rule) for file, line, rule in WARNING.findall(done.stdout)}
    wanted = expected(case)
    return [f"{case.name}: missing {place}" for place in sorted(wanted - found)] + \
        [f"{case.name}: unexpected {place}" for place in sorted(found - wanted)] + \
        ([f"{case.name}: {done.stderr[-300:]}"] if done.returncode not in (0, 1) else [])


def main():
    tidy, plugin = sys.argv[1:3]
    here = pathlib.Path(__file__).resolve().parent
    folders = [pathlib.Path(folder) for folder in sys.argv[3:]] or [here / "shared", here / "own"]
    cases = [path for folder in folders for path in sorted(folder.iterdir())
             if path.suffix in (".c", ".cpp") and not path.name.startswith("raw-pin")
             and not any(f"#include <{name}" in path.read_text() for name in FOREIGN)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [line for lines in pool.map(lambda case: check(tidy, plugin, case), cases) for line in lines]
    print("\n".join([*problems, f"{len(cases)} cases, {len(problems)} problem(s)"]))
    return 1 if problems or len(cases) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
