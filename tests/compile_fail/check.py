#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What must not compile does not, for the right reason, and its allowed twin does.

A case is one source file. As it is, it must compile; with PINWARDEN_FORBIDDEN defined it must be refused, on a line
inside the part that the macro guards or in what that line uses, with an error that matches the pattern which the file
states for the compiler: `// expect gcc: PATTERN`, `// expect clang: PATTERN`.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path


def compile_case(options, *extra):
    """The compiler's status and what it says, without building anything."""
    command = [options.compiler, "-std=c++20", "-fsyntax-only", *options.flag, *extra, str(options.source)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"})
    return answer.returncode, answer.stderr


def expected_pattern(options):
    found = re.search(rf"^// expect {options.kind}: (.+)$", options.source.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else sys.exit(f"{options.source} states no pattern for {options.kind}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--kind", choices=("gcc", "clang"), required=True)
    parser.add_argument("--flag", action="append", default=[], help="an option for the compiler; repeatable")
    parser.add_argument("source", type=Path)
    options = parser.parse_args()

    status, text = compile_case(options)
    if status != 0:
        sys.exit(f"{text}\n{options.source.name}: the allowed twin does not compile")

    pattern = expected_pattern(options)
    status, text = compile_case(options, "-DPINWARDEN_FORBIDDEN")
    errors = [line for line in text.splitlines() if re.search(r"\berror:", line)]
    if status != 1 or not errors:
        sys.exit(f"{text}\n{options.source.name}: the forbidden code was not refused (status {status})")
    if not any(re.search(pattern, line) for line in errors):
        sys.exit(f"{text}\n{options.source.name}: refused, but no error matches '{pattern}'")
    if not any(line.startswith(f"{options.source}:") for line in text.splitlines()):
        sys.exit(f"{text}\n{options.source.name}: refused, but not because of this file")


if __name__ == "__main__":
    main()
