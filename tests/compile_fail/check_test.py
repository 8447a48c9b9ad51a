#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of the compile-fail cases can fail: it is given compilers that answer wrongly."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).with_name("check.py")
CASE = "// expect gcc: right reason\n#if defined(PINWARDEN_FORBIDDEN)\n#endif\n"

# Each is the body of a shell script; $FORBIDDEN is set where the macro is, $source is the case.
RIGHT = '[[ -z $FORBIDDEN ]] || { echo "$source:3:1: error: for the right reason" >&2; exit 1; }'
WRONG = {
    "refuses the allowed twin": 'echo "$source:3:1: error: for the right reason" >&2; exit 1',
    "accepts what is forbidden": "exit 0",
    "gives another reason": '[[ -z $FORBIDDEN ]] || { echo "$source:3:1: error: something else" >&2; exit 1; }',
    "only warns": '[[ -z $FORBIDDEN ]] || { echo "$source:3:1: warning: for the right reason" >&2; exit 1; }',
    "crashes": '[[ -z $FORBIDDEN ]] || { echo "$source:3:1: error: for the right reason" >&2; exit 4; }',
    "blames another file": '[[ -z $FORBIDDEN ]] || { echo "other.hpp:3:1: error: for the right reason" >&2; exit 1; }',
}


def check(script, case=CASE):
    with tempfile.TemporaryDirectory() as folder:
        compiler = Path(folder) / "compiler"
        compiler.write_text('#!/usr/bin/env bash\nsource=${*: -1}\nFORBIDDEN=\n'
                            f'[[ $* != *-DPINWARDEN_FORBIDDEN* ]] || FORBIDDEN=1\n{script}\n', encoding="utf-8")
        compiler.chmod(0o755)
        source = Path(folder) / "case.cpp"
        source.write_text(case, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", CHECK, "--compiler", compiler, "--kind", "gcc", source],
                              capture_output=True, check=False).returncode


class CheckTest(unittest.TestCase):
    def test_a_case_refused_for_the_right_reason_passes(self):
        self.assertEqual(check(RIGHT), 0)

    def test_every_wrong_answer_fails(self):
        for what, script in WRONG.items():
            with self.subTest(compiler=what):
                self.assertEqual(check(script), 1)

    def test_a_case_without_an_expectation_fails(self):
        self.assertEqual(check(RIGHT, case="int x;\n"), 1)


if __name__ == "__main__":
    unittest.main()
