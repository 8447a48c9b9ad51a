// SPDX-License-Identifier: Apache-2.0
#include "scan/driver/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

namespace pinwarden::scan {

namespace {

constexpr int exit_not_started = 127;
constexpr ::rlim_t largest_answer = ::rlim_t{512} << 20U;

/// A file in memory: unlike a pipe it never makes either side wait, whatever the other does.
class MemoryFile {
public:
    explicit MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
        if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(descriptor_); }

    [[nodiscard]] int get() const noexcept { return descriptor_; }

    void fill(const std::string& text) {
        std::size_t written = 0;
        while (written < text.size()) {
            const ::ssize_t count = ::write(descriptor_, text.data() + written, text.size() - written);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw std::system_error(errno, std::generic_category(), "write");
            written += static_cast<std::size_t>(count);
        }
        ::lseek(descriptor_, 0, SEEK_SET);
    }

    [[nodiscard]] std::string content() const {
        std::string text;
        char chunk[65536];
        while (true) {
            const ::ssize_t count =
                ::pread(descriptor_, chunk, sizeof chunk, static_cast<::off_t>(text.size()));
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return text;
            text.append(chunk, static_cast<std::size_t>(count));
        }
    }

private:
    int descriptor_;
};

/// Between fork and exec in a process with threads: only calls that are safe in a signal handler.
[[noreturn]] void become(char* const* arguments, int input, int output, int errors, ::rlim_t memory) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const ::rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const ::rlimit answer{largest_answer, largest_answer};
    ::setrlimit(RLIMIT_FSIZE, &answer);
    if (memory != 0) {
        const ::rlimit limit{memory, memory};
        ::setrlimit(RLIMIT_DATA, &limit);
    }
    if (::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
        ::dup2(errors, STDERR_FILENO) >= 0)
        ::execv(arguments[0], arguments);
    ::_exit(exit_not_started);
}

/// Waits for the child's end, or ends it when its time is up. Returns the status, and whether time ran out.
std::pair<int, bool> wait_for(::pid_t child, std::chrono::milliseconds time) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + time;
    std::chrono::microseconds pause{200};
    constexpr std::chrono::microseconds longest_pause{8000};
    int status = 0;
    while (true) {
        const ::pid_t answer = ::waitpid(child, &status, WNOHANG);
        if (answer == child) return {status, false};
        if (answer < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
        if (Clock::now() >= end) break;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, longest_pause);
    }
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return {status, true};
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const std::string& input,
                      const ChildLimits& limits) {
    std::vector<std::string> words = command;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    MemoryFile request("pinwarden-request");
    const MemoryFile output("pinwarden-answer");
    const MemoryFile errors("pinwarden-errors");
    request.fill(input);

    const ::pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) become(arguments.data(), request.get(), output.get(), errors.get(), limits.memory_bytes);

    const auto [status, timed_out] = wait_for(child, limits.time);
    ChildResult result;
    result.timed_out = timed_out;
    if (WIFSIGNALED(status))
        result.signal = WTERMSIG(status);
    else
        result.exit_code = WEXITSTATUS(status);
    result.output = output.content();
    result.errors = errors.content();
    return result;
}

}  // namespace pinwarden::scan
