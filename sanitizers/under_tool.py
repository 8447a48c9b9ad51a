#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the test programs of a build under a memory tool: `under_tool.py TOOL BUILD_FOLDER [PATTERN]`.

`asan-ubsan` and `tsan` take a build of the preset of that name, `lsan` and `memcheck` any build without a sanitizer.
Each program runs once with all its cases, since starting a tool costs more than most cases do; PATTERN, a regular
expression, chooses programs. A failure prints the tool's report. Exit status 1 if there was any, or if nothing ran.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TIME_LIMIT = 900

LABELS_LEFT_OUT = {
    "policy", "compile_fail", "consumer", "headers",  # other programs than ours
    "fuzz",  # has no end of its own
    "gpu",  # needs a device
    "canaries",  # run by themselves, see canaries.py
}
# Programs that a tool cannot run as they are, and why.
LEFT_OUT = {
    "dropped_in_flight": ("asan-ubsan", "lsan", "memcheck", "tsan"),  # is built with AddressSanitizer always
    # Nearly all of it needs an `operator new` that fails on demand.
    "fault": ("memcheck",),
    # Minutes of work on many threads, of which Valgrind runs one at a time.
    "stress": ("memcheck",), "stress_counts": ("memcheck",), "stress_fork": ("memcheck", "lsan"),
    "stress_pool": ("memcheck",),
}
# Cases that a tool cannot run, by the tags or the names that Catch2 selects.
CASES_LEFT_OUT = {
    # Valgrind puts its own `operator new` in the place of the one that fails on demand.
    "memcheck": ["~[failing_new]"],
    # A child of a program with threads may find LeakSanitizer's own heap locked for good.
    "lsan": ["~[forks_with_threads]"],
}

TOOLS = {
    "asan-ubsan": [],
    "tsan": [],
    "lsan": [],
    "memcheck": ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite",
                 "--errors-for-leak-kinds=definite", "--error-exitcode=99", "--num-callers=30", "--fair-sched=yes",
                 f"--suppressions={HERE / 'valgrind.supp'}"],
}


def environment(tool):
    """The variables of the tool's test preset, or those that a tool without a preset needs."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["testPresets"]
    variables = dict(os.environ)
    for preset in presets:
        if preset["name"] == tool:
            for name, value in preset.get("environment", {}).items():
                variables[name] = value.replace("${sourceDir}", str(ROOT))
    if tool == "lsan":
        library = subprocess.run(["g++", "-print-file-name=liblsan.so"], capture_output=True, text=True, check=True)
        variables["LD_PRELOAD"] = library.stdout.strip()
        variables["LSAN_OPTIONS"] = f"suppressions={HERE / 'lsan.supp'}:print_suppressions=0:allocator_may_return_null=1"
        # The build need not have kept its frame pointers.
        variables["LSAN_OPTIONS"] += ":fast_unwind_on_malloc=0"
    return variables


def programs(build):
    """The test programs of a build, whether Catch2 drives each, and the arguments of those that it does not."""
    answer = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                            check=True)
    found = {}
    for test in json.loads(answer.stdout)["tests"]:
        labels = {label for item in test.get("properties", []) if item["name"] == "LABELS" for label in item["value"]}
        command = test.get("command", [])
        if not command or labels & LABELS_LEFT_OUT:
            continue
        program = Path(command[0])
        if not program.is_relative_to(build) or program.name in ("ctest", "cmake"):
            continue
        by_catch = test["name"].startswith(program.name + ":")
        if by_catch:
            found[program.name] = (program, True, [])
        else:
            found[" ".join([program.name, *command[1:]])] = (program, False, command[1:])
    return found


def run(tool, variables, name, program, by_catch, arguments):
    command = [*TOOLS[tool], str(program), *(CASES_LEFT_OUT.get(tool, []) if by_catch else arguments)]
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=variables, check=False,
                                    cwd=program.parent, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT).returncode
        except subprocess.TimeoutExpired:
            status = f"a time-out of {TIME_LIMIT} s"
        output.seek(0)
        text = output.read().decode(errors="replace")
    print(f"{tool}: {name}: {'passed' if status == 0 else f'ended with {status}'} "
          f"({time.monotonic() - started:.1f} s)", flush=True)
    if status != 0:
        print(text, flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("build", type=lambda path: Path(path).resolve())
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", os.cpu_count())))
    options = parser.parse_args()

    variables = environment(options.tool)
    chosen = []
    for name, (program, by_catch, arguments) in programs(options.build).items():
        if options.tool in LEFT_OUT.get(program.name, ()) or not re.search(options.pattern, name):
            continue
        if not program.exists():
            sys.exit(f"{program} is not built")
        chosen.append((name, program, by_catch, arguments))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        passed = list(pool.map(lambda each: run(options.tool, variables, *each), chosen))
    print(f"{options.tool}: {sum(passed)} of {len(passed)} programs passed")
    sys.exit(0 if passed and all(passed) else 1)


if __name__ == "__main__":
    main()
