#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tree of 2,000 files, some of them broken, some without pins: the scan ends, counts right and uses all cores.

usage: run_tree.py PINWARDEN_PROGRAM [FILES]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LEAK = """#include <sys/mman.h>
int keep_{n}(char *key, unsigned long size, int wrong) {{
    if (mlock(key, size) != 0) return -1;
    if (wrong) return -{n};
    munlock(key, size);
    return 0;
}}
"""
GOOD = LEAK.replace("    if (wrong) return -{n};\n", "")
NONE = "int answer_{n}(void) {{ return {n}; }}\n"
BROKEN = "#include <not/there_{n}.h>\nstruct Half_{n} {{ int x\n" + GOOD


def write_tree(root, count):
    """Of ten files one leaks, three are right, one is broken and five pin nothing."""
    for n in range(count):
        text = {0: LEAK, 1: GOOD, 2: GOOD, 3: GOOD, 4: BROKEN}.get(n % 10, NONE)
        folder = root / f"part_{n % 40}"
        folder.mkdir(exist_ok=True)
        (folder / f"file_{n}.c").write_text(text.format(n=n))


def children(pid):
    try:
        tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
        return sum(len((task / "children").read_text().split()) for task in tasks)
    except OSError:
        return 0


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "tree")
        root.mkdir()
        write_tree(root, count)
        report_file = pathlib.Path(folder, "report.json")
        scan = subprocess.Popen([program, "scan", "--cuda-path", "none", "--format", "json", "--output", report_file, root])
        most = 0
        while scan.poll() is None:
            most = max(most, children(scan.pid))
            time.sleep(0.02)
        report = json.loads(report_file.read_text())
    leaks = len([n for n in range(count) if n % 10 == 0])
    pinning = len([n for n in range(count) if n % 10 <= 4])
    wanted = {"scanned": pinning, "skipped": count - pinning, "crashed": 0, "findings": leaks}
    summary = {key: report["summary"][key] for key in wanted}
    print(f"{summary}, at most {most} files at a time on {os.cpu_count()} cores, exit status {scan.returncode}")
    leaked = {pathlib.Path(finding["location"]["file"]).stem for finding in report["findings"]}
    right = leaked == {f"file_{n}" for n in range(0, count, 10)}
    return 0 if summary == wanted and right and scan.returncode == 1 and most >= os.cpu_count() else 1


if __name__ == "__main__":
    sys.exit(main())
