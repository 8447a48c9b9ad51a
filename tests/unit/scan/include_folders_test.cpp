// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/include_folders.hpp"

#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <fstream>

namespace fs = std::filesystem;
using pinwarden::scan::IncludeFolders;

namespace {

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

bool has(const std::vector<std::string>& folders, const fs::path& folder) {
    return std::find(folders.begin(), folders.end(), folder.string()) != folders.end();
}

}  // namespace

TEST_CASE("The folders of headers are found by what sources and headers include") {
    const pinwarden::testing::TemporaryFolder tree;
    write(tree / "src/app/main.c", "#include \"net/socket.h\"\n# include <codec/frame.h>\n#include \"own.h\"\n");
    write(tree / "src/app/own.h", "");
    write(tree / "lib/net/socket.h", "#include \"net/address.h\"\n");
    write(tree / "more/net/address.h", "");
    write(tree / "codecs/codec/frame.h", "");
    write(tree / "unused/thing.h", "");
    IncludeFolders folders({tree.path()});
    const auto found = folders.folders_for(tree / "src/app/main.c");
    CHECK(has(found, tree / "lib"));
    CHECK(has(found, tree / "more"));
    CHECK(has(found, tree / "codecs"));
    CHECK_FALSE(has(found, tree / "unused"));
    CHECK_FALSE(has(found, tree / "src/app"));
}

TEST_CASE("Of two headers of one name the nearer one counts, and a system header is never taken from the tree") {
    const pinwarden::testing::TemporaryFolder tree;
    write(tree / "one/src/a.c", "#include \"util.h\"\n#include <stdlib.h>\n");
    write(tree / "one/inc/util.h", "");
    write(tree / "two/inc/util.h", "");
    write(tree / "compat/stdlib.h", "");
    IncludeFolders folders({tree.path()});
    const auto found = folders.folders_for(tree / "one/src/a.c");
    CHECK(has(found, tree / "one/inc"));
    CHECK_FALSE(has(found, tree / "two/inc"));
    CHECK_FALSE(has(found, tree / "compat"));
}

TEST_CASE("A folder called include above the source is one of them") {
    const pinwarden::testing::TemporaryFolder tree;
    write(tree / "lib/src/deep/a.c", "");
    write(tree / "lib/include/x.h", "");
    IncludeFolders folders({tree / "lib/src/deep/a.c"});
    CHECK(has(folders.folders_for(tree / "lib/src/deep/a.c"), tree / "lib/include"));
}

TEST_CASE("Headers that include each other end the search") {
    const pinwarden::testing::TemporaryFolder tree;
    write(tree / "a.c", "#include \"x/one.h\"\n#include \"\"\n#include \"open\n#include\n");
    write(tree / "inc/x/one.h", "#include \"x/two.h\"\n");
    write(tree / "inc/x/two.h", "#include \"x/one.h\"\n");
    IncludeFolders folders({tree.path()});
    CHECK(has(folders.folders_for(tree / "a.c"), tree / "inc"));
}
