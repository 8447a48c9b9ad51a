#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that a tool sees the defects it is kept for: `canaries.py TOOL PROGRAM` runs each defect and its twin under it.

A defect that the tool must see has to end with the status and the text expected; a defect that it cannot see, and
every twin without the defect, has to end well and silently. So each cell of the table that `canaries.py table` prints,
which docs/testing.md holds, is checked by a run.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "testing.md"
BEGIN, END = "<!-- table of defects: begin -->", "<!-- table of defects: end -->"

CRASH = (-signal.SIGSEGV,)
ERROR = 99  # what Valgrind is told to end with where it found something

# How a program is run under each tool, and its name in the table.
TOOLS = {
    "asan-ubsan": ("ASan, UBSan", []),
    "lsan": ("LSan", []),
    "tsan": ("TSan", []),
    "memcheck": ("memcheck", ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite",
                              "--errors-for-leak-kinds=definite", f"--error-exitcode={ERROR}"]),
    "helgrind": ("helgrind", ["valgrind", "-q", "--tool=helgrind", f"--error-exitcode={ERROR}"]),
}

LEAK = "12321 byte"
# Of each defect: what it is, and for each tool that sees it the statuses it may end with and a text of its report.
DEFECTS = {
    "lost_handle": ("a handle is lost", {
        "asan-ubsan": ((1,), LEAK), "lsan": ((23,), LEAK), "memcheck": ((ERROR,), "12,321 bytes in 1 blocks are definitely lost")}),
    "lost_pooled_handle": ("a handle of a pool is lost", {
        "asan-ubsan": ((1,), LEAK), "lsan": ((23,), LEAK), "memcheck": ((ERROR,), "12,321 bytes in 1 blocks are definitely lost")}),
    "heap_object_behind_pin": ("the last pointer to a heap object, in pinned memory, is overwritten", {
        "asan-ubsan": ((1,), "777 byte"), "lsan": ((23,), "777 byte"),
        "memcheck": ((ERROR,), "777 bytes in 1 blocks are definitely lost")}),
    "use_after_unpin": ("use after unpin", {
        "asan-ubsan": ((1,), "SEGV on unknown address"), "lsan": ((23,), "SEGV"), "tsan": ((66,), "SEGV"),
        "memcheck": (CRASH, "bytes inside a block of size 12,321 free'd"), "helgrind": (CRASH, "")}),
    "use_after_return_to_pool": ("use after return to a pool", {
        "asan-ubsan": ((1,), "use-after-poison"),
        "memcheck": ((ERROR,), "bytes inside a block of size 12,321 free'd")}),
    "overrun": ("overrun within the last page", {
        "asan-ubsan": ((1,), "use-after-poison"), "memcheck": ((ERROR,), "0 bytes after a block of size 12,321 alloc'd")}),
    "overrun_in_pool": ("the same, of a reused block", {
        "asan-ubsan": ((1,), "use-after-poison"), "memcheck": ((ERROR,), "0 bytes after a recently re-allocated block")}),
    "double_unpin": ("a copy of a handle's bytes unpins once more", {
        "asan-ubsan": ((1,), "heap-use-after-free"), "lsan": ((23,), "SEGV"), "tsan": ((66,), "SEGV"),
        "memcheck": (CRASH, "Invalid read of size 8"), "helgrind": (CRASH, "")}),
    "uninitialised_element": ("an element is read before it has a value", {
        "memcheck": ((ERROR,), "Conditional jump or move depends on uninitialised value")}),
    "race_in_pool": ("two owners of a pooled block write at a time", {
        "tsan": ((66,), "WARNING: ThreadSanitizer: data race"), "helgrind": ((ERROR,), "Possible data race")}),
    "race_with_unpin": ("a thread writes while another one unpins", {
        "tsan": ((66,), "WARNING: ThreadSanitizer: data race")}),
    "undefined_shift": ("undefined behaviour: a shift too far", {
        "asan-ubsan": ((1,), "shift exponent 40 is too large")}),
    "locked_pages": ("pages are not really locked (`VmLck`)", {
        tool: ((3,), "VmLck") for tool in TOOLS}),
}
# Defects that end a program in more than one way, depending on how its threads meet, where no tool looks for them.
BY_CHANCE = {("race_with_unpin", "memcheck"), ("race_with_unpin", "asan-ubsan")}


def environment(tool):
    variables = os.environ | {"LC_ALL": "C"}
    if tool == "lsan":
        library = subprocess.run(["g++", "-print-file-name=liblsan.so"], capture_output=True, text=True, check=True)
        variables["LD_PRELOAD"] = library.stdout.strip()
    return variables


def problem(tool, program, defect, twin):
    """What is wrong with how a defect, or its twin, ended; and its output."""
    command = TOOLS[tool][1] + [program, defect, twin]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=120,
                                env=environment(tool), stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "did not end", ""
    output = answer.stdout + answer.stderr
    expected = DEFECTS[defect][1].get(tool) if twin == "bad" else None
    if expected is None:
        if answer.returncode != 0 or answer.stderr.strip():
            return f"should end well and silently, but ended with {answer.returncode}", output
        return None, output
    statuses, text = expected
    if answer.returncode not in statuses:
        return f"ended with {answer.returncode}, expected was {' or '.join(map(str, statuses))}", output
    if text not in output:
        return f"its report lacks '{text}'", output
    return None, output


def check(tool, program):
    listed = subprocess.run([program], capture_output=True, text=True, check=False).stdout.split()
    if sorted(listed) != sorted(DEFECTS):
        print(f"the program knows {listed}, this script {list(DEFECTS)}")
        return 1
    failures = 0
    for defect in DEFECTS:
        for twin in ("bad", "good"):
            if twin == "bad" and (defect, tool) in BY_CHANCE:
                continue
            wrong, output = problem(tool, program, defect, twin)
            print(f"{tool}: {defect} {twin}: {wrong or 'as expected'}")
            if wrong:
                failures += 1
                print(output)
    return 1 if failures else 0


def table():
    lines = ["| defect | " + " | ".join(name for name, _ in TOOLS.values()) + " |",
             "| --- |" + " --- |" * len(TOOLS)]
    for text, seen in DEFECTS.values():
        cells = []
        for tool in TOOLS:
            if tool not in seen:
                cells.append("-")
            else:
                report = seen[tool][1]
                cells.append("crash" if report in ("", "SEGV") or "SEGV" in report else "**yes**")
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def document(text):
    """The text of docs/testing.md with the table as it is now."""
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), f"{BEGIN}\n{table()}\n{END}", text, flags=re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*TOOLS, "table", "check-document", "write-document"])
    parser.add_argument("program", nargs="?")
    options = parser.parse_args()
    if options.what == "table":
        print(table())
    elif options.what == "write-document":
        DOCUMENT.write_text(document(DOCUMENT.read_text()))
    elif options.what == "check-document":
        text = DOCUMENT.read_text()
        if BEGIN not in text or document(text) != text:
            sys.exit("docs/testing.md has another table of defects; run sanitizers/canaries.py write-document")
    else:
        sys.exit(check(options.what, options.program))


if __name__ == "__main__":
    main()
