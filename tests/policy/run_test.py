#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./run: its commands, its errors, and how it finds packages, on machines made up of a few fake programs."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(__file__).resolve().parents[2] / "run"
NOBODY = 65534

# What ./run may use besides the programs it looks for.
TOOLS = ("awk", "bash", "chmod", "dirname", "env", "grep", "head", "nproc", "readlink", "rm", "sed", "sort", "tail",
         "tee")


class FakeMachine:
    """A copy of ./run and a PATH that holds nothing but TOOLS and the scripts given by name."""

    def __init__(self, folder, programs):
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.run = Path(shutil.copy(RUN, self.folder / "run"))
        self.path = self.folder / "bin"
        self.path.mkdir()
        for tool in TOOLS:
            (self.path / tool).symlink_to(shutil.which(tool))
        for name, script in programs.items():
            program = self.path / name
            program.write_text(f"#!{shutil.which('bash')}\n{script}\n", encoding="utf-8")
            program.chmod(0o755)

    def call(self, *arguments, ordinary_user=False):
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if ordinary_user and os.geteuid() == 0 else {}
        return subprocess.run([self.run, *arguments], env={"PATH": str(self.path)}, capture_output=True, text=True,
                              cwd=self.folder, stdin=subprocess.DEVNULL, check=False, **user)


def entry(sources, codename="bookworm"):
    """The entry for backports that ./run derives from the files of an apt folder, and whether it found one."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sources.list.d").mkdir()
        for name, text in sources.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        answer = subprocess.run(["bash", "-c", 'source "$1"; backports_entry "$2" "$3"', "-", RUN, codename, folder],
                                capture_output=True, text=True, check=False)
        return answer.stdout, answer.returncode == 0


class CommandsTest(unittest.TestCase):
    def test_an_unknown_command_is_one_clear_error(self):
        answer = subprocess.run([RUN, "fly"], capture_output=True, text=True, check=False)
        self.assertEqual(answer.returncode, 2)
        self.assertEqual(answer.stderr, "run: error: unknown command 'fly'; './run help' lists the commands.\n")
        self.assertEqual(answer.stdout, "")

    def test_an_unknown_preset_is_one_clear_error(self):
        answer = subprocess.run([RUN, "build", "fast"], capture_output=True, text=True, check=False)
        self.assertEqual((answer.returncode, answer.stderr.count("\n")), (2, 1))
        self.assertIn("unknown preset 'fast'", answer.stderr)

    def test_help_lists_every_command(self):
        answer = subprocess.run([RUN, "help"], capture_output=True, text=True, check=True)
        listed = set(re.findall(r"^  ([a-z]+)\b", answer.stdout, re.MULTILINE))
        dispatch = RUN.read_text(encoding="utf-8").partition("case $command in")[2]
        cases = re.findall(r"^    ([a-z]+)(?: \|[^)]*)?\)", dispatch, re.MULTILINE)
        self.assertEqual(listed, set(cases))

    def test_without_a_command_help_goes_to_the_error_stream(self):
        answer = subprocess.run([RUN], capture_output=True, text=True, check=False)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn("Usage: ./run COMMAND", answer.stderr)


class InstallingTest(unittest.TestCase):
    def run_on(self, programs, *arguments, **options):
        with tempfile.TemporaryDirectory() as folder:
            return FakeMachine(folder, programs).call(*arguments, **options)

    def test_without_a_package_manager_it_says_what_to_install(self):
        answer = self.run_on({}, "deps")
        self.assertEqual(answer.returncode, 1)
        for name in ("g++", "cmake", "ninja-build", "libmsgsl-dev", "libfmt-dev", "nlohmann-json3-dev", "libcli11-dev",
                     "libdw-dev", "catch2", "libgtest-dev", "clang-19", "libclang-rt-19-dev", "python3", "pkgconf",
                     "valgrind"):
            self.assertIn(name, answer.stderr)
        self.assertIn("package manager", answer.stderr)

    def test_without_root_and_sudo_it_says_what_to_run(self):
        answer = self.run_on({"apt-get": "exit 0"}, "demo", ordinary_user=True)
        self.assertEqual(answer.returncode, 1)
        self.assertRegex(answer.stderr, r"Run this as root, then this again:\n +/.*/run deps\n")
        self.assertIn("libmsgsl-dev", answer.stderr)

    def test_a_refused_sudo_is_a_clear_error(self):
        answer = self.run_on({"apt-get": "exit 0", "sudo": "echo no password >&2; exit 1"}, "demo", ordinary_user=True)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("run: error: 'apt-get update' failed", answer.stderr)

    def test_a_failed_update_is_a_clear_error(self):
        answer = self.run_on({"apt-get": "exit 100", "sudo": 'shift; exec "$@"'}, "demo")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("run: error: 'apt-get update' failed", answer.stderr)

    def test_a_failed_install_is_a_clear_error(self):
        answer = self.run_on({"apt-get": '[[ $* != *install* ]] || exit 100', "sudo": 'shift; exec "$@"'}, "demo")
        self.assertEqual(answer.returncode, 1)
        self.assertRegex(answer.stderr, r"run: error: 'apt-get install g\+\+ cmake .*' failed")

    def test_what_is_still_missing_after_installing_is_a_clear_error(self):
        answer = self.run_on({"apt-get": "exit 0", "sudo": 'shift; exec "$@"'}, "demo")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("installed, but still not found or too old: compiler cmake ninja", answer.stderr)


class BackportsTest(unittest.TestCase):
    def test_a_line_is_repeated_with_its_mirror_and_options(self):
        self.assertEqual(
            entry({"sources.list": "# main archive\n"
                                   "deb-src http://mirror.example/debian bookworm main\n"
                                   "deb http://mirror.example/security bookworm-security main\n"
                                   "deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm contrib main\n"}),
            ("deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm-backports main\n", True))

    def test_a_line_without_options_is_repeated(self):
        self.assertEqual(entry({"sources.list.d/a.list": "deb http://mirror.example/debian bookworm main\n"}),
                         ("deb http://mirror.example/debian bookworm-backports main\n", True))

    def test_options_with_spaces_inside_their_brackets_are_kept(self):
        self.assertEqual(entry({"sources.list": "deb [ trusted=yes ] mirror+file:/m.list bookworm main\n"}),
                         ("deb [ trusted=yes ] mirror+file:/m.list bookworm-backports main\n", True))

    def test_a_stanza_is_repeated_with_its_mirror_and_keys(self):
        key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----\n"
        self.assertEqual(
            entry({"sources.list.d/debian.sources":
                   "Types: deb\nURIs: http://mirror.example/security\nSuites: bookworm-security\nComponents: main\n\n"
                   "# the archive\nTypes: deb deb-src\nURIs: mirror+file:///etc/m.list\n"
                   "Suites: bookworm bookworm-updates\nComponents: main contrib\n" + key}),
            ("Types: deb\nURIs: mirror+file:///etc/m.list\nSuites: bookworm-backports\nComponents: main\n" + key, True))

    def test_a_disabled_stanza_is_no_source(self):
        stanza = "Enabled: no\nTypes: deb\nURIs: http://mirror.example\nSuites: bookworm\nComponents: main\n"
        self.assertEqual(entry({"sources.list.d/debian.sources": stanza}), ("", False))

    def test_another_release_is_no_source(self):
        self.assertEqual(entry({"sources.list": "deb http://mirror.example/debian trixie main\n"}), ("", False))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
