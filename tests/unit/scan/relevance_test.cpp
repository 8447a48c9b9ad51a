// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/relevance.hpp"

#include <support/temporary_folder.hpp>

#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <utility>

namespace fs = std::filesystem;
using namespace pinwarden::scan;

namespace {

struct Tree {
    pinwarden::testing::TemporaryFolder folder;

    void write(const fs::path& name, const std::string& text) const {
        fs::create_directories((folder / name).parent_path());
        std::ofstream(folder / name) << text;
    }
    [[nodiscard]] bool is_relevant(const fs::path& name, std::vector<std::string> arguments = {}) const {
        AnalyseRequest request;
        request.file = (folder / name).string();
        request.directory = folder.path().string();
        request.arguments = std::move(arguments);
        return Relevance(ApiTable::builtin()).is_relevant(request);
    }
};

}  // namespace

TEST_CASE("A file that names a call that pins, releases, copies or hands on a function is relevant") {
    const Tree tree;
    for (const char* call : {"mlock(p, n)", "cudaFreeHost(p)", "cuMemAllocHost_v2(&p, n)", "ibv_dereg_mr(m)",
                             "cudaMemcpyAsync(a, b, n, k, s)", "cudaLaunchHostFunc(s, f, p)"}) {
        CAPTURE(call);
        tree.write("a.c", std::string("void f(void) { ") + call + "; }\n");
        CHECK(tree.is_relevant("a.c"));
    }
    tree.write("a.c", "void f(void) { free(p); my_mlock(p); mlocked = 1; }\n#define X(a) a##b\n");
    CHECK_FALSE(tree.is_relevant("a.c"));
}

TEST_CASE("A header of the project counts for those who include it, however far away") {
    const Tree tree;
    tree.write("src/a.c", "#include \"b.h\"\n");
    tree.write("src/b.h", "#  include <deep/c.h>\n");
    tree.write("inc/deep/c.h", "#define LOCK(p, n) mlock(p, n)\n");
    CHECK_FALSE(tree.is_relevant("src/a.c"));
    CHECK(tree.is_relevant("src/a.c", {"-Iinc"}));
    CHECK(tree.is_relevant("src/a.c", {"-isystem", (tree.folder / "inc").string()}));
    CHECK_FALSE(tree.is_relevant("src/a.c", {"-iquote", "inc"}));
}

TEST_CASE("A header that every file begins with counts, and one whose name is a macro is never left unread") {
    const Tree tree;
    tree.write("a.c", "int x;\n");
    tree.write("inc/all.h", "void g(void) { munlock(p, n); }\n");
    CHECK(tree.is_relevant("a.c", {"-Iinc", "-include", "all.h"}));
    tree.write("a.c", "#include HEADER\n");
    CHECK(tree.is_relevant("a.c"));
}

TEST_CASE("Headers that include each other, are missing or belong to the system end the search") {
    const Tree tree;
    tree.write("a.c", "#include \"one.h\"\n#include <sys/mman.h>\n#include \"missing.h\"\n#include \"open\n");
    tree.write("one.h", "#include \"two.h\"\n");
    tree.write("two.h", "#include \"one.h\"\n");
    CHECK(tree.is_relevant("a.c", {"-I/usr/include"}));
    tree.write("a.c", "#include \"one.h\"\n#include <sys/mman.h>\n#include \"missing.h\"\n");
    CHECK_FALSE(tree.is_relevant("a.c", {"-I/usr/include"}));
}

TEST_CASE("A file that cannot be read is relevant, so that its report says so") {
    CHECK(Tree().is_relevant("missing.c"));
}
