#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of the analysis of one file, against `clang -fsyntax-only` of the same file.

usage: measure.py [--runs N] [--check] ANALYSER_PROGRAM

Both sides run in turns; compared are the medians of the processor time, which other work on the machine disturbs
less than the clock, and the largest memory. The files have the headers that real code has. With --check the exit
status is 1 where a ratio is above its target.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

HEADERS = "\n".join(f"#include <{name}>" for name in (
    "algorithm", "chrono", "filesystem", "functional", "future", "iostream", "map", "memory", "mutex", "optional",
    "random", "regex", "sstream", "string", "thread", "unordered_map", "variant", "vector", "sys/mman.h"))

WORK = """
namespace {
template <class T> T total(const std::vector<T>& values) { T sum{}; for (const T& v : values) sum += v; return sum; }
std::map<std::string, std::vector<int>> table;
}
int use_%d(const std::string& text, int wrong) {
    std::regex pattern("[a-z]+"); std::smatch match;
    if (!std::regex_search(text, match, pattern)) return 0;
    for (const auto& [name, values] : table) if (name == match.str()) return total(values) + wrong;
    std::ostringstream out; out << text << wrong; return static_cast<int>(out.str().size());
}
"""

PINS = """
int keep_%d(char* key, unsigned long size, int wrong) {
    if (mlock(key, size) != 0) return -1;
    for (int i = 0; i < wrong; ++i) { if (key[i] == 'x') { munlock(key, size); return i; } key[i] = 'x'; }
    munlock(key, size);
    return 0;
}
"""

TARGETS = {"pin-free": 1.3, "pinning": 1.6}
MEMORY_TARGET = 1.7


def measured(command, text):
    """Processor time in seconds and largest memory in MiB of one run."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = (usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, done.returncode)
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        seconds, mebibytes, status = json.loads(stream.read())
    os.waitpid(child, 0)
    if status != 0:
        raise SystemExit(f"{command[0]} exited with {status}")
    return seconds, mebibytes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("program")
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, target in TARGETS.items():
            file = pathlib.Path(folder, name + ".cpp")
            parts = [HEADERS] + [WORK % n for n in range(20)]
            parts += [PINS % n for n in range(20)] if name == "pinning" else []
            file.write_text("\n".join(parts))
            request = json.dumps({"file": str(file), "arguments": ["-std=c++17"]})
            ours, theirs = [], []
            for _ in range(options.runs):
                theirs.append(measured(["clang++-19", "-std=c++17", "-fsyntax-only", "-w", str(file)], ""))
                ours.append(measured([options.program], request))
            time = [statistics.median(run[0] for run in side) for side in (ours, theirs)]
            memory = [statistics.median(run[1] for run in side) for side in (ours, theirs)]
            ratio, memory_ratio = time[0] / time[1], memory[0] / memory[1]
            good = ratio <= target and memory_ratio <= MEMORY_TARGET
            failed = failed or not good
            print(f"{name}: {time[0]:.2f} s against {time[1]:.2f} s of clang -fsyntax-only: {ratio:.2f} times "
                  f"(target {target}); {memory[0]:.0f} MiB against {memory[1]:.0f}: {memory_ratio:.2f} times "
                  f"(target {MEMORY_TARGET})")
    return 1 if failed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
