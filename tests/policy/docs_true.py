#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation names exists, and the C++ that it shows is that of docs/examples/, which is compiled and run.

Checked in README.md and docs/**/*.md: links and their anchors; and in backticks paths, headers, CMake targets, commands
of ./run and of the program, CTest presets, and the names of types and functions.
"""

import re
from pathlib import PurePosixPath

from project import CODE, Problem, main

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FENCE = re.compile(r"^\s*```(\w*)")
QUOTE = re.compile(r"^<!-- from (\S+) -->$")
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:hpp|cpp|cmake|md|py|json)")
HEADER_FOLDERS = ("", "include/", "include/pinwarden/", "src/", "audit/", "docs/", "docs/examples/")
TARGET = re.compile(r"pinwarden::(?:pinwarden|zero|cuda|mpi|catch2|gtest)")
# A type, a qualified name or a call: what a reader would search for.
NAME = re.compile(r"~?((?:\w+::)*[A-Za-z_]\w*)(\(.*\))?")
TYPE = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
RUN_COMMAND = re.compile(r"\./run(?: +([a-z-]+))?")
PROGRAM_COMMAND = re.compile(r"pinwarden +([a-z]+)\b")
PRESET = re.compile(r"--preset[ =]+([\w-]+)")

# Paths of the machine, and names of other projects' functions that the documentation explains.
FOREIGN = re.compile(r"(?:/(?:proc|usr|etc|tmp)/.*|(?:std|gsl|fmt|cuda\w*|Catch)::.*|malloc|free|mlock|munlock|mmap|munmap"
                     r"|posix_memalign|memcpy|syscall|pin_memory|tensor\.\w+|cuda[A-Z]\w+|fork|exec)(?:\(.*\))?")


def anchor(heading):
    """The anchor that Git hosts give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower()).replace(" ", "-")


def anchors(project, path):
    return {anchor(line.lstrip("#")) for _, line in project.lines(path) if line.startswith("#")}


def check_link(project, path, number, target):
    if re.match(r"[a-z]+:", target):
        return
    name, _, fragment = target.partition("#")
    file = path
    if name:
        file = (PurePosixPath(path).parent / name).as_posix()
        resolved = (project.root / file).resolve()
        if not resolved.exists() or project.root.resolve() not in (resolved, *resolved.parents):
            yield Problem(path, number, f"links to '{name}', which does not exist")
            return
        file = resolved.relative_to(project.root.resolve()).as_posix()
    if fragment and fragment not in anchors(project, file):
        yield Problem(path, number, f"links to '#{fragment}', which {file} does not have")


class Vocabulary:
    """Everything that exists under a name."""

    def __init__(self, project):
        self.project = project
        self.words = set()
        targets = []
        for path in project.files("include", "src", "audit", "tests", "sanitizers", "docs/examples"):
            if path.endswith((*CODE, ".py", ".sh", ".json", ".in")):
                self.words.update(re.findall(r"\w+", project.text(path)))
            if path.endswith(("CMakeLists.txt", ".cmake", ".in")):
                text = project.text(path)
                self.words.update(re.findall(r"\w+", text))
                targets += re.findall(r"add_library\((\S+) ALIAS", text)
        self.words.update(re.findall(r"\w+", project.text("CMakeLists.txt") + project.text("CMakePresets.json")))
        self.targets = set(targets)
        self.presets = set(re.findall(r'"name": "([\w-]+)"', project.text("CMakePresets.json")))
        self.run_commands = set(re.findall(r"^  ([a-z]+)(?: .*)?$", project.text("run"), re.MULTILINE))
        self.subcommands = {
            name for path in project.files("audit/command", suffixes=(".cpp", ".hpp"))
            for name in re.findall(r'add_subcommand\(\s*"([a-z]+)"', project.text(path))
            + re.findall(r'\.name = "([a-z]+)"', project.text(path))}

    def path_exists(self, document, name):
        if any(self.project.exists(folder + name) for folder in HEADER_FOLDERS):
            return True
        if self.project.exists((PurePosixPath(document).parent / name).as_posix()):
            return True
        # The name alone, or with its last folders, of a file somewhere in the project.
        suffix = "/" + name
        return any(("/" + file).endswith(suffix) for file in self.all_files())

    def all_files(self):
        if not hasattr(self, "files"):
            self.files = self.project.files()
        return self.files


def check_commands(known, path, number, text):
    for found in RUN_COMMAND.finditer(text):
        if found[1] and found[1] not in known.run_commands:
            yield Problem(path, number, f"names './run {found[1]}', which `./run help` does not list")
    for found in PROGRAM_COMMAND.finditer(text):
        if text.strip().startswith(("pinwarden ", "./run pinwarden ")) and found[1] not in known.subcommands | {"version"}:
            yield Problem(path, number, f"names 'pinwarden {found[1]}', which the program does not have")
    for found in PRESET.finditer(text):
        if found[1] not in known.presets:
            yield Problem(path, number, f"names the preset '{found[1]}', which does not exist")


def check_span(known, path, number, span):
    yield from check_commands(known, path, number, span)
    if TARGET.fullmatch(span):
        if span not in known.targets:
            yield Problem(path, number, f"names the target '{span}', which does not exist")
    elif FOREIGN.fullmatch(span) or " " in span.strip():
        return
    elif PATH.fullmatch(span):
        if not span.startswith("build/") and not known.path_exists(path, span):
            yield Problem(path, number, f"names '{span}', which does not exist")
    elif (found := NAME.fullmatch(span)) and (found[2] or "::" in found[1] or TYPE.fullmatch(found[1])):
        for part in found[1].split("::"):
            if part not in known.words:
                yield Problem(path, number, f"names '{span}', but there is no '{part}'")


def dedented(lines):
    """Lines without the white space that all of them begin with."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def is_excerpt(project, source, shown):
    """Whether lines stand somewhere in a source one after the other, whatever their margin."""
    lines = project.text(source).splitlines()
    shown = dedented(shown)
    return any(dedented(lines[start:start + len(shown)]) == shown for start in range(len(lines) - len(shown) + 1))


# These pages show what the auditor reports, which is wrong on purpose; its cases are under tests/audit_cases/scan.
PAGES_OF_DEFECTS = "docs/scan/rules/"


def check_fence(project, known, path, start, language, marker, body):
    if language == "cpp":
        if path.startswith(PAGES_OF_DEFECTS):
            return
        if marker is None:
            yield Problem(path, start, "shows C++ without saying '<!-- from docs/examples/NAME.cpp -->' on the line above")
        elif not marker.startswith("docs/examples/") or not project.exists(marker):
            yield Problem(path, start, f"shows C++ from '{marker}', which is no file in docs/examples/")
        elif not is_excerpt(project, marker, body):
            yield Problem(path, start, f"shows C++ that does not stand like that in {marker}")
    elif language in ("sh", "console"):
        for offset, line in enumerate(body, start=1):
            yield from check_commands(known, path, start + offset, line.removeprefix("$ "))


def check_document(project, known, path):
    fence = None
    previous = ""
    for number, line in project.lines(path):
        if fence is not None:
            if line.strip() == "```":
                yield from check_fence(project, known, path, *fence)
                fence = None
            else:
                fence[-1].append(line)
        elif found := FENCE.match(line):
            marker = QUOTE.match(previous)
            fence = (number, found[1], marker[1] if marker else None, [])
        else:
            for found in LINK.finditer(CODE_SPAN.sub("", line)):
                yield from check_link(project, path, number, found[1])
            for found in CODE_SPAN.finditer(line):
                yield from check_span(known, path, number, found[1])
        previous = line
    if fence is not None:
        yield Problem(path, fence[0], "opens a code block that is never closed")


def check(project):
    known = Vocabulary(project)
    documents = [path for path in ("README.md", *project.files("docs", suffixes=(".md",))) if project.exists(path)]
    for path in documents:
        yield from check_document(project, known, path)
    for path in documents:
        # Each page is in the index of its folder, and that of a folder in the index above it.
        index = (PurePosixPath(path).parent / "README.md").as_posix()
        if path == index:
            index = (PurePosixPath(path).parent.parent / "README.md").as_posix()
        name = PurePosixPath(path).relative_to(PurePosixPath(index).parent).as_posix()
        linked = project.exists(index) and re.search(rf"\({re.escape(name)}[)#]", project.text(index))
        if path != "README.md" and not linked:
            yield Problem(path, 0, f"is not linked from {index}")


if __name__ == "__main__":
    main(check)
