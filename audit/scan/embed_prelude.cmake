# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that holds the text of every file in FILES.
set(body "")
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" text)
  string(APPEND body "        {\"${name}\", R\"PRELUDE(${text})PRELUDE\"},\n")
endforeach()
file(
  WRITE "${OUTPUT}"
  "// SPDX-License-Identifier: Apache-2.0\n// Written by embed_prelude.cmake.\n#include \"virtual_headers.hpp\"\n\n"
  "namespace pinwarden::scan {\n\n"
  "const std::vector<std::pair<std::string_view, std::string_view>>& embedded_prelude()\n{\n"
  "    static const std::vector<std::pair<std::string_view, std::string_view>> files{\n${body}    };\n"
  "    return files;\n}\n\n}  // namespace pinwarden::scan\n")
