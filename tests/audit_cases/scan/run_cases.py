#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Analyses every case and compares what is reported with its `pin-expect` markers, line by line.

usage: run_cases.py [--setting toolkit|prelude|bare] [--filter TEXT] -- PINWARDEN_PROGRAM [CASE_FOLDER...]

A case is a file, or a folder that is analysed as one project. Three settings of headers: the CUDA toolkit's own, the
auditor's prelude in their place, and the prelude in place of the C and C++ libraries too.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

MARKER = re.compile(r"pin-expect:\s*([a-z, -]+?)\s*(?:\*/|$)")
SOURCES = {".c", ".cpp", ".cu"}


def arguments(setting, case):
    suffixes = {path.suffix for path in files_of(case)} & SOURCES
    # A folder has sources of one language, and takes the standard that its cases are written in.
    c = suffixes == {".c"}
    bare = ["-nostdinc"] + ([] if c else ["-nostdinc++"])
    return ["-std=c11" if c else "-std=c++17"] + (bare if setting == "bare" else [])


def toolkit():
    for place in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if place and pathlib.Path(place, "include/cuda_runtime.h").exists():
            return place
    return ""


def files_of(case):
    return sorted(p for p in ([case] if case.is_file() else case.rglob("*")) if p.is_file())


def expected(case):
    out = set()
    for path in files_of(case):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = MARKER.search(line)
            if found:
                out |= {(str(path.resolve()), number, rule.strip()) for rule in found.group(1).split(",")}
    return out


def reported(program, setting, case):
    command = [program, "scan", "--format", "json", "-j", "1", str(case.resolve())]
    command += ["--cuda-path", toolkit() if setting == "toolkit" else "none"]
    command += [f"--extra-arg={argument}" for argument in arguments(setting, case)]
    if case.name.startswith("raw-pin"):
        command += ["--require-handles", "--allow-pins-in", "backend"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()[-400:]}{done.stdout[-400:]}")
    report = json.loads(done.stdout)
    if report["summary"]["crashed"]:
        raise RuntimeError("; ".join(f"{file['state']}: {file['detail']}" for file in report["files"]))
    if (done.returncode == 1) != bool(report["findings"]):
        raise RuntimeError(f"exit {done.returncode} with {len(report['findings'])} findings")
    out = {}
    for finding in report["findings"]:
        place = finding["location"]
        out[(str(pathlib.Path(place["file"]).resolve()), place["line"], finding["rule"])] = finding["message"]
    return out


def check(program, setting, case):
    try:
        found = reported(program, setting, case)
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        return [f"{case.name}: {problem}"]
    wanted = expected(case)
    problems = []
    for place in sorted(wanted - set(found)):
        problems.append(f"{case.name}: {pathlib.Path(place[0]).name}:{place[1]}: missing {place[2]}")
    for place in sorted(set(found) - wanted):
        problems.append(f"{case.name}: {pathlib.Path(place[0]).name}:{place[1]}: unexpected {place[2]}: {found[place]}")
    return problems


def cases_in(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir() and re.search(r"\.(bad|good)$", path.name):
            yield path
        elif path.suffix in SOURCES:
            yield path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--setting", choices=["toolkit", "prelude", "bare"], action="append")
    parser.add_argument("--filter", default="")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    folders = options.folders or [path for path in sorted(here.iterdir()) if path.is_dir()]
    settings = options.setting or (["toolkit"] if toolkit() else []) + ["prelude", "bare"]
    failed = 0
    if settings == ["toolkit"] and not toolkit():
        print("toolkit: no CUDA toolkit on this machine")
        return 77
    for setting in settings:
        cases = [case for folder in folders for case in cases_in(folder) if options.filter in case.name]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda case: check(options.program, setting, case), cases))
        problems = [line for result in results for line in result]
        bad = sum(1 for result in results if result)
        failed += bad
        print(f"{setting}: {len(cases) - bad} of {len(cases)} cases as expected")
        for line in problems:
            print("  " + line)
        if not cases:
            print(f"{setting}: no case matches")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
