#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes if a command fails, and for the reason expected: by its exit status and by what it says.

CTest's WILL_FAIL and PASS_REGULAR_EXPRESSION each look at one of the two only, so a program that crashes passes.
"""

import argparse
import os
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--status", type=int, default=1, help="the exit status expected (default 1)")
    parser.add_argument("--output", action="append", default=[], help="a text that must be in the output; repeatable")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    answer = subprocess.run(options.command, capture_output=True, text=True, check=False,
                            env=os.environ | {"LC_ALL": "C"}, stdin=subprocess.DEVNULL)
    # Tools break their messages into lines where they like.
    output = " ".join((answer.stdout + answer.stderr).split())
    wrong = [f"the output lacks '{text}'" for text in options.output if " ".join(text.split()) not in output]
    if answer.returncode != options.status:
        wrong.append(f"the exit status is {answer.returncode}, expected was {options.status}")
    if wrong:
        print(answer.stdout, answer.stderr, *wrong, sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
