#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every policy can fail: each is shown a small project that obeys it, and the same with one thing wrong."""

import sys
import tempfile
import unittest
from pathlib import Path

import all_built
import docs_true
import file_length
import headers_listed
import layering
import only_handles
import pin_calls
import public_headers
import test_names
import top_level
import traps
import words
from project import Project

HASH_LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = LICENCE + "#pragma once\n/// @file\n/// A text.\n"

# A project that obeys every policy.
GOOD = {
    "README.md": "# Name\n\nSee [the index](docs/README.md#pages), `core/bytes.hpp`, `Bytes`, `pinwarden::pinwarden` and\n"
                 "`./run test`.\n\n<!-- from docs/examples/first.cpp -->\n```cpp\nint main() {\n    return 0;\n```\n",
    "run": "#!/bin/sh\n" + HASH_LICENCE + "  test [ARGS...]    run the tests\n",
    "CMakePresets.json": "{}\n",
    "CMakeLists.txt": HASH_LICENCE + "add_subdirectory(src)\nadd_subdirectory(tests)\n",
    "docs/README.md": "# Index\n\n## Pages\n\n[One](one.md)\n",
    "docs/one.md": "# One\n\n```sh\n./run test\n```\n",
    "docs/examples/CMakeLists.txt": HASH_LICENCE + "add_example(first)\n",
    "docs/examples/first.cpp": LICENCE + "int main() {\n    return 0;\n}\n",
    "include/pinwarden/pinwarden.hpp":
        HEADER + "#include <pinwarden/core/bytes.hpp>\n#include <pinwarden/own/pin.hpp>\n",
    "include/pinwarden/zero.hpp": HEADER + "#include <pinwarden/zero/engine.hpp>\n",
    "include/pinwarden/core/bytes.hpp": HEADER + "#include <cstddef>\nstruct Bytes;\n",
    "include/pinwarden/own/pin.hpp": HEADER + "#include <gsl/span>\n#include <pinwarden/core/bytes.hpp>\n",
    "include/pinwarden/zero/engine.hpp": HEADER + "#include <pinwarden/own/pin.hpp>\n",
    "src/CMakeLists.txt":
        HASH_LICENCE + "add_library(pinwarden::pinwarden ALIAS pinwarden)\n"
        "sources(core/bytes.cpp backend/native_backend.cpp zero/engine.cpp)\n"
        "${PROJECT_SOURCE_DIR}/include/pinwarden/pinwarden.hpp\n${PROJECT_SOURCE_DIR}/include/pinwarden/zero.hpp\n"
        "${PROJECT_SOURCE_DIR}/include/pinwarden/core/bytes.hpp\n${PROJECT_SOURCE_DIR}/include/pinwarden/own/pin.hpp\n"
        "${PROJECT_SOURCE_DIR}/include/pinwarden/zero/engine.hpp\n",
    "src/core/bytes.cpp": LICENCE + '#include <pinwarden/core/bytes.hpp>\n\n#include <cstddef>\n',
    "src/backend/native_backend.cpp": LICENCE + "int lock() { return mlock(0, 0); }\n",
    "src/zero/engine.cpp": LICENCE + "// mlock is not called here\n",
    "tests/CMakeLists.txt":
        HASH_LICENCE + "add_subdirectory(unit)\nadd_subdirectory(${PROJECT_SOURCE_DIR}/docs/examples examples)\n",
    "tests/unit/CMakeLists.txt": HASH_LICENCE + "sources(core/bytes_test.cpp)\n",
    "tests/unit/core/bytes_test.cpp": LICENCE,
}


def found(policy, changes):
    """What a policy says of the good project with some files changed; None removes a file."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in (GOOD | changes).items():
            if text is not None:
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        return [str(problem) for problem in policy.check(Project(folder))]


ALL = (all_built, docs_true, file_length, headers_listed, layering, only_handles, pin_calls, public_headers, test_names,
       top_level, traps, words)

# Policy, files changed, and what one problem must say.
BROKEN = (
    (all_built, {"src/core/more.cpp": LICENCE}, "src/core/more.cpp: is not built: src/CMakeLists.txt does not name it"),
    (all_built, {"tests/unit/CMakeLists.txt": HASH_LICENCE}, "tests/unit/core/bytes_test.cpp: is not built"),
    (all_built, {"docs/examples/second.cpp": LICENCE}, "docs/examples/second.cpp: is not built"),
    (all_built, {"tests/fault/CMakeLists.txt": HASH_LICENCE},
     "tests/fault/CMakeLists.txt: is not built: tests/CMakeLists.txt does not add its folder"),
    (all_built, {"tests/CMakeLists.txt": HASH_LICENCE + "add_subdirectory(unit)\n"},
     "docs/examples/CMakeLists.txt: is not built"),
    (layering, {"include/pinwarden/core/bytes.hpp": HEADER + "#include <pinwarden/own/pin.hpp>\n"},
     "include/pinwarden/core/bytes.hpp:5: layer 'core' includes 'include/pinwarden/own/pin.hpp' of layer 'own'"),
    (layering, {"src/core/bytes.cpp": LICENCE + '#include "own/pin.hpp"\n', "src/own/pin.hpp": HEADER},
     "layer 'core' includes 'src/own/pin.hpp'"),
    (layering, {"src/core/bytes.cpp": LICENCE + "#include <cstddef>\n#include <pinwarden/core/bytes.hpp>\n"},
     "src/core/bytes.cpp:3: includes its own header"),
    (layering, {"src/core/other.cpp": LICENCE + "#include <cuda_runtime.h>\n"}, "outside a folder named cuda"),
    (layering, {"src/core/other.cpp": LICENCE + "#include <pinwarden/core/none.hpp>\n"}, "which does not exist"),
    (layering, {"src/core/other.cpp": LICENCE + "#include <pinwarden/pinwarden.hpp>\n"}, "umbrella header"),
    (layering, {"include/pinwarden/core/bytes.hpp": HEADER + '#include "core/hidden.hpp"\n',
                "src/core/hidden.hpp": HEADER}, "includes the private"),
    (layering, {"include/pinwarden/extra/thing.hpp": HEADER}, "unknown layer 'extra'"),
    (file_length, {"src/core/long.cpp": "\n" * 400}, "src/core/long.cpp:400: has 400 lines"),
    (file_length, {"src/core/wide.cpp": "x" * 121}, "has 121 columns"),
    (headers_listed, {"include/pinwarden/pinwarden.hpp": HEADER + "#include <pinwarden/core/bytes.hpp>\n"},
     "include/pinwarden/own/pin.hpp: is not included by include/pinwarden/pinwarden.hpp"),
    (headers_listed, {"include/pinwarden/zero.hpp": HEADER}, "is not included by include/pinwarden/zero.hpp"),
    (headers_listed, {"include/pinwarden/core/more.hpp": HEADER}, "is in no target's FILE_SET"),
    (headers_listed, {"include/pinwarden/core/bytes.hpp": None}, "which does not exist"),
    (headers_listed, {"src/zero/CMakeLists.txt": "${PROJECT_SOURCE_DIR}/include/pinwarden/own/pin.hpp\n"}, "once more"),
    (top_level, {"notes.md": ""}, "notes.md: has no place in the top level"),
    (top_level, {"src/misc/x.cpp": ""}, "src/misc: has no place in src/"),
    (only_handles, {"src/zero/engine.cpp": "auto block = backend_->allocate(8);\n"}, "uses backend_->allocate"),
    (only_handles, {"src/superoffload/worker.cpp": "auto x = new float[8];\n"}, "src/superoffload/worker.cpp:1: uses 'new'"),
    (only_handles, {"src/zero/engine.cpp": "auto x = new (std::nothrow) float[8];\n"}, "src/zero/engine.cpp:1: uses 'new'"),
    (only_handles, {"src/zero/engine.cpp": "auto x = ::operator new(8);\n"}, "uses 'operator new'"),
    (only_handles, {"include/pinwarden/zero/engine.hpp": HEADER + "auto x = owner.release();\n"}, "uses '.release('"),
    (only_handles, {"src/zero/engine.cpp": "void Engine::destroy() {\n    if (config_.pin_memory) unpin();\n}\n"},
     "src/zero/engine.cpp:2: reads config_ in destroy(), which releases"),
    (only_handles, {"src/zero/engine.cpp": "Engine::~Engine() {\n    {}\n    if (optimizer_on_host_) drop();\n}\n"},
     "src/zero/engine.cpp:3: reads optimizer_on_host_ in ~Engine()"),
    (pin_calls, {"src/zero/engine.cpp": LICENCE + "int x = munlock(0, 0);\n"}, "src/zero/engine.cpp:2: uses munlock"),
    (pin_calls, {"src/zero/engine.cpp": LICENCE + "long x = syscall(SYS_mlock, 0, 0);\n"}, "uses SYS_mlock"),
    (pin_calls, {"docs/examples/first.cpp": "auto x = cudaHostAlloc;\n"}, "uses cudaHostAlloc"),
    (pin_calls, {"src/zero/engine.cpp": "HostBlock block;\n"}, "uses HostBlock; pinned memory is held in handles"),
    (pin_calls, {"src/cuda/stream.cpp": "auto x = cudaLaunchHostFunc;\n"}, "uses cudaLaunchHostFunc; a stream's callback"),
    (public_headers, {"include/pinwarden/core/bytes.hpp": HEADER + "#include <fmt/format.h>\n"}, "includes 'fmt/format.h'"),
    (public_headers, {"include/pinwarden/core/bytes.hpp": HEADER + "#include <string.h>\n"}, "includes 'string.h'"),
    (public_headers, {"include/pinwarden/core/bytes.hpp": LICENCE + "/// @file\n"}, "lacks '#pragma once'"),
    (public_headers, {"include/pinwarden/core/bytes.hpp": LICENCE + "#pragma once\n"}, "lacks the '/// @file' text"),
    (words, {"src/core/bytes.cpp": LICENCE + "// TO" + "DO: more\n"}, "src/core/bytes.cpp:2: says 'TO" + "DO'"),
    (words, {"docs/one.md": "This is not imple" + "mented.\n"}, "says 'not imple" + "mented'"),
    (words, {"src/core/bytes.cpp": "int x;\n"}, "does not begin with"),
    (words, {"docs/one.md": "text \n"}, "ends in white space"),
    (traps, {"docs/testing.md": "| 1 | early reuse | `tests/unit/core/bytes_test.cpp` |\n"},
     "docs/testing.md:1: says that tests/unit/core/bytes_test.cpp tests trap 1"),
    (traps, {"tests/unit/core/bytes_test.cpp": LICENCE + 'TEST_CASE("Trap 2: early release")\n'},
     "tests/unit/core/bytes_test.cpp: tests trap 2, but docs/testing.md does not list it there"),
    (test_names, {"tests/unit/core/other_test.cpp": LICENCE}, "tests no header: there is no other.hpp"),
    (test_names, {"tests/unit/own/bytes_test.cpp": LICENCE}, "tests no header"),
    (test_names, {"tests/unit/core/helper.cpp": LICENCE}, "is not named <concept>_test.cpp"),
    (docs_true, {"docs/one.md": "[gone](two.md)\n"}, "docs/one.md:1: links to 'two.md', which does not exist"),
    (docs_true, {"docs/one.md": "[gone](README.md#none)\n"}, "links to '#none'"),
    (docs_true, {"docs/one.md": "`core/none.hpp`\n"}, "names 'core/none.hpp'"),
    (docs_true, {"docs/one.md": "`NoSuchType`\n"}, "there is no 'NoSuchType'"),
    (docs_true, {"docs/one.md": "`no_such_call()`\n"}, "there is no 'no_such_call'"),
    (docs_true, {"docs/one.md": "`pinwarden::zero`\n"}, "names the target 'pinwarden::zero'"),
    (docs_true, {"docs/one.md": "`./run fly`\n"}, "names './run fly'"),
    (docs_true, {"docs/one.md": "```sh\n./run fly\n```\n"}, "docs/one.md:2: names './run fly'"),
    (docs_true, {"docs/one.md": "```sh\npinwarden fly\n```\n"}, "names 'pinwarden fly'"),
    (docs_true, {"docs/one.md": "`cmake --preset fast`\n"}, "names the preset 'fast'"),
    (docs_true, {"docs/one.md": "```cpp\nint x;\n```\n"}, "shows C++ without saying"),
    (docs_true, {"docs/one.md": "<!-- from docs/examples/none.cpp -->\n```cpp\nint x;\n```\n"}, "which is no file"),
    (docs_true, {"docs/one.md": "<!-- from docs/examples/first.cpp -->\n```cpp\nint x;\n```\n"}, "does not stand like that"),
    (docs_true, {"docs/one.md": "```sh\n"}, "never closed"),
    (docs_true, {"docs/two.md": "# Two\n"}, "docs/two.md: is not linked from docs/README.md"),
)


class PolicyTest(unittest.TestCase):
    def test_a_good_project_obeys_every_policy(self):
        for policy in ALL:
            with self.subTest(policy=policy.__name__):
                self.assertEqual(found(policy, {}), [])

    def test_each_broken_project_is_reported(self):
        for policy, changes, text in BROKEN:
            with self.subTest(policy=policy.__name__, text=text):
                problems = found(policy, changes)
                self.assertTrue(any(text in problem for problem in problems), f"reported instead: {problems}")

    def test_every_policy_is_shown_to_fail(self):
        self.assertEqual({policy for policy, _, _ in BROKEN}, set(ALL))
        files = {path.stem for path in Path(__file__).parent.glob("*.py")}
        self.assertEqual(files - {"project", "self_test", "run_test"}, {policy.__name__ for policy in ALL})


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
