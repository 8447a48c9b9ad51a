#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every case, cut off and changed at random: no crash, no hang, always a report.

usage: fuzz_cases.py [--rounds N] [--seed S] PINWARDEN_PROGRAM [CASE_FOLDER...]

Each round makes one file cut off and two changed files of each source among the cases. The same seed makes the same
files. The files of a scan that went wrong are kept, and their folder is named.
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
SOURCES = {".c", ".cpp", ".cu"}
SPARE_TOKENS = ["{", "}", "(", ")", ";", ",", "*", "&", "template<", ">", "return", "if", "else", "goto", "operator",
                "auto", "[", "]", "0", "sizeof", "throw", "::", "~", "#", "\"", "class", "struct", "mlock", "free",
                "cudaFreeHost", "cudaHostAlloc", "\\", "/*", "'", "...", "requires", "concept", "&&", "="]


def changed(text, chance):
    """A few tokens dropped, doubled, replaced, moved or added."""
    tokens = TOKEN.findall(text)
    for _ in range(chance.randint(1, 8)):
        if not tokens:
            break
        at = chance.randrange(len(tokens))
        kind = chance.randrange(5)
        if kind == 0:
            del tokens[at:at + chance.randint(1, 12)]
        elif kind == 1:
            tokens[at:at] = tokens[at:at + chance.randint(1, 12)]
        elif kind == 2:
            tokens[at] = chance.choice(SPARE_TOKENS)
        elif kind == 3:
            other = chance.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        else:
            tokens.insert(at, chance.choice(SPARE_TOKENS))
    return "".join(tokens)


def changed_bytes(text, chance):
    data = bytearray(text.encode())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("program")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    folders = options.folders or [here / "shared", here / "own"]
    sources = sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in SOURCES)
    chance = random.Random(options.seed)
    root = pathlib.Path(tempfile.mkdtemp(prefix="pinwarden-fuzz-"))
    for number, source in enumerate(sources * options.rounds):
        text = source.read_text()
        for kind in ("cut", "changed", "bytes"):
            place = root / f"{kind}_{number % 50}"
            place.mkdir(exist_ok=True)
            file = place / f"{number}_{source.name}"
            if kind == "cut":
                file.write_text(text[:chance.randrange(len(text))])
            elif kind == "changed":
                file.write_text(changed(text, chance))
            else:
                file.write_bytes(changed_bytes(text, chance))
    wanted = 3 * len(sources) * options.rounds
    command = [options.program, "scan", "--cuda-path", "none", "--timeout", "60", "--format", "json", root]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        print(f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}\nthe files are in {root}")
        return 1
    report = json.loads(done.stdout)
    failed = [file for file in report["files"] if file["state"] not in ("scanned", "skipped")]
    for file in failed:
        print(f"{file['file']}: {file['state']}: {file['detail']}")
    print(f"{len(report['files'])} of {wanted} files have a report, {len(failed)} failed, "
          f"{len(report['findings'])} findings")
    if failed or len(report["files"]) != wanted:
        print(f"the files are in {root}")
        return 1
    subprocess.run(["rm", "-r", root], check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
