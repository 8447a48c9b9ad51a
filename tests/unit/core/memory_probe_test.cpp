// SPDX-License-Identifier: Apache-2.0
#include <core/memory_probe.hpp>

#include <pinwarden/core/process_memory.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace pinwarden::detail {

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;
constexpr std::size_t gib = 1024 * mib;

// A machine made of files.
class FakeRoot {
public:
    FakeRoot() {
        std::string pattern = (std::filesystem::temp_directory_path() / "pinwarden_root_XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = pattern;
    }
    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;
    ~FakeRoot() { std::filesystem::remove_all(path_); }

    FakeRoot& file(const std::string& name, const std::string& content) {
        const std::filesystem::path path = path_ + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << content;
        return *this;
    }

    FakeRoot& available(std::size_t bytes) {
        return file("/proc/meminfo",
                    "MemTotal:       64000000 kB\nMemFree:             7 kB\nMemAvailable:   " +
                        std::to_string(bytes / kib) + " kB\nBuffers: 9 kB\n");
    }

    FakeRoot& group_2(const std::string& group, const std::string& limit, std::size_t used) {
        const std::string folder = "/sys/fs/cgroup" + group + "/";
        return file(folder + "memory.max", limit + "\n")
            .file(folder + "memory.current", std::to_string(used) + "\n");
    }

    FakeRoot& group_1(const std::string& group, std::size_t limit, std::size_t used) {
        const std::string folder = "/sys/fs/cgroup/memory" + group + "/";
        return file(folder + "memory.limit_in_bytes", std::to_string(limit) + "\n")
            .file(folder + "memory.usage_in_bytes", std::to_string(used) + "\n");
    }

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string number(std::size_t value) { return std::to_string(value); }

}  // namespace

TEST_CASE("Locked bytes are the kernel's line VmLck, which counts in KiB", "[core]") {
    FakeRoot root;
    root.file("/proc/self/status",
              "Name:\tx\nVmPin:\t      40 kB\nVmLck:\t     132 kB\nVmHWM:\t    9000 kB\n");
    CHECK(locked_bytes_under(root.path()) == 132 * kib);
}

TEST_CASE("Locked bytes are zero where the kernel says nothing", "[core]") {
    FakeRoot root;
    CHECK(locked_bytes_under(root.path()) == 0);
    root.file("/proc/self/status", "Name:\tx\n");
    CHECK(locked_bytes_under(root.path()) == 0);
    root.file("/proc/self/status", "VmLck:\tmuch kB\n");
    CHECK(locked_bytes_under(root.path()) == 0);
}

TEST_CASE("Without any file, memory is taken to be unlimited", "[core]") {
    const FakeRoot root;
    CHECK(available_bytes_under(root.path()) == unlimited_bytes);
}

TEST_CASE("Without control groups, what is available is what the machine has", "[core]") {
    FakeRoot root;
    root.available(3 * gib);
    CHECK(available_bytes_under(root.path()) == 3 * gib);
}

TEST_CASE("A group of version 2 allows its limit less what it uses", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/job\n").group_2("/job", number(2 * gib), gib / 2);
    CHECK(available_bytes_under(root.path()) == 3 * gib / 2);
}

TEST_CASE("A group's page cache counts as available, because the kernel drops it before it kills", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/job\n").group_2("/job", number(2 * gib), gib);
    root.file("/sys/fs/cgroup/job/memory.stat",
              "anon 5\ninactive_file_other 77\ninactive_file " + number(gib / 4) + "\nactive_file 1\n");
    CHECK(available_bytes_under(root.path()) == gib + gib / 4);
}

TEST_CASE("Page cache beyond what is used does not make a group larger than its limit", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/job\n").group_2("/job", number(gib), mib);
    root.file("/sys/fs/cgroup/job/memory.stat", "inactive_file " + number(2 * mib) + "\n");
    CHECK(available_bytes_under(root.path()) == gib);
}

TEST_CASE("A group of version 2 without a limit leaves it to those above it", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/slice/job\n");
    root.group_2("/slice/job", "max", mib).group_2("/slice", number(gib), gib / 4);
    CHECK(available_bytes_under(root.path()) == gib - gib / 4);
    root.group_2("/slice", "max", gib);
    CHECK(available_bytes_under(root.path()) == 8 * gib);
}

TEST_CASE("The tightest of nested groups decides, wherever it is", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/a/b/c\n");
    root.group_2("/a/b/c", number(4 * gib), gib)
        .group_2("/a/b", number(3 * gib), gib)
        .group_2("/a", number(gib), mib);
    CHECK(available_bytes_under(root.path()) == gib - mib);
    root.group_2("/a/b/c", number(2 * mib), mib);
    CHECK(available_bytes_under(root.path()) == mib);
    root.group_2("/a/b", number(4 * mib), 4 * mib - 4 * kib);
    CHECK(available_bytes_under(root.path()) == 4 * kib);
    root.group_2("", number(2 * gib), 2 * gib - 2 * kib);
    CHECK(available_bytes_under(root.path()) == 2 * kib);
}

TEST_CASE("A group that uses more than its limit allows nothing", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/job\n").group_2("/job", number(gib), gib + mib);
    CHECK(available_bytes_under(root.path()) == 0);
}

TEST_CASE("A container that sees only its own group reads the root of the hierarchy", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "0::/\n").group_2("", number(gib), mib);
    CHECK(available_bytes_under(root.path()) == gib - mib);

    FakeRoot other;
    other.available(8 * gib)
        .file("/proc/self/cgroup", "4:cpu,memory:/docker/not-to-be-seen\n")
        .group_1("", gib, mib);
    CHECK(available_bytes_under(other.path()) == gib - mib);
}

TEST_CASE("Groups of version 1 are found by their controller, alone or among others", "[core]") {
    FakeRoot root;
    root.available(8 * gib).group_1("/box", gib, gib / 2).group_1("", 9223372036854771712U, 5 * gib);
    root.file("/sys/fs/cgroup/memory/box/memory.stat",
              "inactive_file 1\ntotal_inactive_file " + number(mib) + "\n");
    for (const std::string controllers : {"memory", "hugetlb,memory", "memory,pids", "a,memory,b"}) {
        root.file("/proc/self/cgroup",
                  "11:cpuset:/elsewhere\n3:" + controllers + ":/box\n1:name=systemd:/x\n");
        CHECK(available_bytes_under(root.path()) == gib / 2 + mib);
    }
    root.file("/proc/self/cgroup", "3:memory_but_not_really:/box\n");
    CHECK(available_bytes_under(root.path()) == 8 * gib);
}

TEST_CASE("On a machine with both versions the tighter one decides", "[core]") {
    FakeRoot root;
    root.available(8 * gib).file("/proc/self/cgroup", "5:memory:/box\n0::/job\n");
    root.group_1("/box", gib, 0).group_2("/job", number(2 * gib), 0);
    CHECK(available_bytes_under(root.path()) == gib);
    root.group_2("/job", number(mib), 0);
    CHECK(available_bytes_under(root.path()) == mib);
}

TEST_CASE("The machine decides where it has less than the groups allow", "[core]") {
    FakeRoot root;
    root.available(mib).file("/proc/self/cgroup", "0::/job\n").group_2("/job", number(gib), 0);
    CHECK(available_bytes_under(root.path()) == mib);
}

TEST_CASE("Files that make no sense are passed over", "[core]") {
    FakeRoot root;
    root.available(gib).file("/proc/self/cgroup", "nonsense\n\n0:only one colon\n0::/job\n");
    root.file("/sys/fs/cgroup/job/memory.max", "").file("/sys/fs/cgroup/job/memory.current", "what\n");
    CHECK(available_bytes_under(root.path()) == gib);
    root.group_2("/job", number(mib), 0);
    CHECK(available_bytes_under(root.path()) == mib);
}

}  // namespace pinwarden::detail
