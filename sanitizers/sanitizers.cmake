# SPDX-License-Identifier: Apache-2.0

# PINWARDEN_SANITIZER builds Pinwarden's own code with a sanitizer; what is installed or used by others is never built
# with one. LeakSanitizer and Valgrind need no build of their own: sanitizers/under_tool.py runs any build under them.

set(PINWARDEN_SANITIZER "none" CACHE STRING "Build Pinwarden and its tests with a sanitizer")
set_property(CACHE PINWARDEN_SANITIZER PROPERTY STRINGS none asan-ubsan tsan)

if(PINWARDEN_SANITIZER STREQUAL "none")
  set(sanitizer_flags "")
elseif(PINWARDEN_SANITIZER STREQUAL "asan-ubsan")
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(PINWARDEN_SANITIZER STREQUAL "tsan")
  set(sanitizer_flags -fsanitize=thread)
else()
  message(FATAL_ERROR "PINWARDEN_SANITIZER='${PINWARDEN_SANITIZER}' is unknown; valid are none, asan-ubsan and tsan. "
                      "For lsan and valgrind see sanitizers/README.md.")
endif()

if(sanitizer_flags)
  # Whole stacks in reports, and the standard library's own checks of indices and iterators.
  target_compile_options(pinwarden_build_flags INTERFACE ${sanitizer_flags} -fno-omit-frame-pointer
                                                         -fno-optimize-sibling-calls)
  target_compile_definitions(pinwarden_build_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(pinwarden_build_flags INTERFACE ${sanitizer_flags})
endif()
