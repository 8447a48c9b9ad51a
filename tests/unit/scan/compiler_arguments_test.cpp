// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/compiler_arguments.hpp"

#include <catch2/catch_test_macros.hpp>

using pinwarden::scan::split_command;
using pinwarden::scan::translate_command;
using Words = std::vector<std::string>;

TEST_CASE("A command line is split as a shell splits it") {
    CHECK(split_command("cc  -c\ta.c\n") == Words{"cc", "-c", "a.c"});
    CHECK(split_command(R"(cc '-DA="x y"' "-DB=\"z\"" -DC=\"w\" a\ b.c)") ==
          Words{"cc", R"(-DA="x y")", R"(-DB="z")", R"(-DC="w")", "a b.c"});
    CHECK(split_command(R"(cc '' "a\b")") == Words{"cc", "", R"(a\b)"});
    CHECK(split_command("").empty());
}

TEST_CASE("What decides how a source is read is kept, all else is left out") {
    CHECK(translate_command({"ccache", "g++", "-std=c++20", "-I", "inc", "-Iother", "-isystem", "/s", "-DA", "-D",
                             "B=1", "-UC", "-include", "pre.h", "-O3", "-g", "-Wall", "-march=native", "-MD", "-MF",
                             "x.d", "-o", "x.o", "-c", "x.cpp", "-fno-exceptions"}) ==
          Words{"-std=c++20", "-Iinc", "-Iother", "-isystem", "/s", "-DA", "-DB=1", "-UC", "-include", "pre.h",
                "-fno-exceptions"});
    CHECK(translate_command({}).empty());
}

TEST_CASE("The command lines of nvcc are translated") {
    CHECK(translate_command({"nvcc", "-x", "cu", "--std=c++17", "-gencode", "arch=compute_80,code=sm_80", "-Xcompiler",
                             "-fPIC,-DHOST=1,-fopenmp", "--expt-relaxed-constexpr", "--define-macro", "X=2",
                             "--include-path=inc", "-ccbin", "g++-12", "-dc", "k.cu", "-o", "k.o"}) ==
          Words{"-x", "cuda", "-std=c++17", "-DHOST=1", "-fopenmp", "-DX=2", "-Iinc"});
    CHECK(translate_command({"nvcc", "-Xcompiler=-DA", "--compiler-options", "-DB", "k.cu"}) == Words{"-DA", "-DB"});
}

TEST_CASE("A value that is missing at the end of the line does no harm") {
    CHECK(translate_command({"cc", "-o"}).empty());
    CHECK(translate_command({"cc", "-isystem"}) == Words{"-isystem", ""});
}
