#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code includes only downward, CUDA headers appear only in folders named `cuda`, a source's own header comes first."""

from pathlib import PurePosixPath

from project import CODE, PRODUCT_FOLDERS, Problem, includes, main

# From the bottom to the top; layers of one row do not know each other. docs/architecture.md shows the same picture.
ROWS = (
    ("core",),
    ("backend",),
    ("audit",),
    ("accelerator",),
    ("own", "cuda"),
    ("pool",),
    ("zero",),
    ("superoffload",),
    ("scan", "listeners"),
    ("command",),
)
RANK = {layer: rank for rank, row in enumerate(ROWS) for layer in row}

# Folders below audit/ that implement the layer `audit`; the others are layers of their own.
AUDIT_LAYER_FOLDERS = {"registry", "report"}


def layer_of(path):
    """The layer a file belongs to; None for umbrella headers and what is in no layer."""
    parts = PurePosixPath(path).parts
    if parts[:2] == ("include", "pinwarden") and len(parts) > 3:
        return parts[2]
    if parts[0] == "src" and len(parts) > 2:
        return parts[1] if parts[1] in RANK else None
    if parts[0] == "audit" and len(parts) > 2:
        return "audit" if parts[1] in AUDIT_LAYER_FOLDERS else parts[1]
    return None


def resolve(project, path, name):
    """The project's file that an include means; None for somebody else's."""
    for folder in (str(PurePosixPath(path).parent), "include", "src", "audit"):
        candidate = str(PurePosixPath(folder) / name)
        if ".." not in candidate and project.exists(candidate):
            return candidate
    return None


def own_header_problem(project, path):
    stem = PurePosixPath(path).stem
    first = True
    for number, _, name in includes(project, path):
        target = resolve(project, path, name)
        if target and PurePosixPath(target).stem == stem and layer_of(target) == layer_of(path):
            if not first:
                yield Problem(path, number, f"includes its own header '{name}' after others; it must come first")
            return
        first = False


def check(project):
    for path in project.files(*PRODUCT_FOLDERS, suffixes=CODE):
        layer = layer_of(path)
        if layer is not None and layer not in RANK:
            yield Problem(path, 0, f"is in the unknown layer '{layer}'; the layers are {', '.join(RANK)}")
            continue
        for number, _, name in includes(project, path):
            if name.startswith("cuda") and "cuda" not in PurePosixPath(path).parts:
                yield Problem(path, number, f"includes '{name}' outside a folder named cuda")
            target = resolve(project, path, name)
            if target is None:
                if name.startswith("pinwarden/"):
                    yield Problem(path, number, f"includes '{name}', which does not exist")
                continue
            if target.startswith(("src/", "audit/")) and path.startswith("include/"):
                yield Problem(path, number, f"is a public header and includes the private '{target}'")
            other = layer_of(target)
            if layer is None or other is None or layer == other:
                if layer is not None and other is None and target.startswith("include/"):
                    yield Problem(path, number, f"includes the umbrella header '{name}'; include what is used")
                continue
            if RANK[other] >= RANK[layer]:
                yield Problem(path, number, f"layer '{layer}' includes '{target}' of layer '{other}', which is not below it")
        if path.endswith((".cpp", ".cu")):
            yield from own_header_problem(project, path)


if __name__ == "__main__":
    main(check)
