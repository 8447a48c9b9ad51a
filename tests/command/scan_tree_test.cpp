// SPDX-License-Identifier: Apache-2.0
#include <command/scan_project.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace pinwarden::testing;
using nlohmann::json;

TEST_CASE("A destructor in another file than its constructor is found") {
    const ScanProject project;
    project.write("buffer.hpp", "#include <cstddef>\n"
                                "class Buffer {\n"
                                "public:\n"
                                "    explicit Buffer(std::size_t n);\n"
                                "    ~Buffer();\n"
                                "    Buffer(const Buffer&) = delete;\n"
                                "    Buffer& operator=(const Buffer&) = delete;\n"
                                "private:\n"
                                "    void* data_ = nullptr;\n"
                                "    std::size_t size_;\n"
                                "};\n");
    project.write("open.cpp", "#include \"buffer.hpp\"\n#include <cuda_runtime.h>\n#include <new>\n"
                              "Buffer::Buffer(std::size_t n) : size_(n) {\n"
                              "    if (cudaMallocHost(&data_, n) != cudaSuccess) throw std::bad_alloc();\n"
                              "}\n");
    project.write("close.cpp", "#include \"buffer.hpp\"\n#include <cuda_runtime.h>\n"
                               "Buffer::~Buffer() { cudaFreeHost(data_); }\n");
    CHECK(project.scan().exit_status == 0);
    project.write("close.cpp", "#include \"buffer.hpp\"\n#include <cuda_runtime.h>\n"
                               "Buffer::~Buffer() { size_ = 0; }\n");
    const json report = project.report();
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("rule") == "no-releasing-destructor");
}

TEST_CASE("The compile database's macros and folders decide what is read, nvcc's spelling included") {
    const ScanProject project;
    project.write("src/keep.cu", "#include \"lock.h\"\n"
                                 "int keep(int wrong) {\n"
                                 "    void* p;\n"
                                 "    if (cudaMallocHost(&p, SIZE) != cudaSuccess) return -1;\n"
                                 "#ifdef EARLY\n"
                                 "    if (wrong) return -2;\n"
                                 "#endif\n"
                                 "    cudaFreeHost(p);\n"
                                 "    return 0;\n"
                                 "}\n");
    project.write("deep/inc/lock.h", "#define SIZE 4096\n");
    const auto database = [&](const std::string& more) {
        const json entry = {{"directory", project.path()},
                            {"file", "src/keep.cu"},
                            {"command", "/usr/local/cuda/bin/nvcc -arch=sm_80 --define-macro " + more +
                                            " -Xcompiler=-fPIC --include-path=deep/inc -dc src/keep.cu -o keep.o"}};
        project.write("build/compile_commands.json", json::array({entry}).dump());
        return run_pinwarden({"scan", "--cuda-path", "none", "-p", (project / "build").string()}).exit_status;
    };
    CHECK(database("LATE") == 0);
    CHECK(database("EARLY") == 1);
}

TEST_CASE("A file that does not parse is analysed as far as it was understood, missing headers or not") {
    const ScanProject project;
    project.write("keep.c", "#include <nowhere/to_be_found.h>\n" + leaking_source +
                                "struct Broken { unknown_type_t x; int } ;\nint broken( {\n");
    const json report = project.report();
    REQUIRE(report.at("findings").size() == 1);
    CHECK(report.at("findings").at(0).at("location").at("line") == 4);
    CHECK(report.at("files").at(0).at("errors") >= 1);
    CHECK(report.at("files").at(0).at("missing_headers").size() == 1);
}
