// SPDX-License-Identifier: Apache-2.0
#include <support/program_run.hpp>

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace pinwarden::testing {

namespace {

constexpr std::size_t usual_lock_limit = std::size_t{8} * 1024 * 1024;
constexpr unsigned nobody = 65534;

[[noreturn]] void fail(const char* call) {
    throw std::system_error(errno, std::generic_category(), call);
}

struct Pipe {
    Pipe() {
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
    }
    std::array<int, 2> ends{};  ///< to read from, to write to
};

// The child may only call what is safe between fork and exec; it ends with this status if something is
// refused.
constexpr int could_not_start = 125;

void require(bool done, const char* call) {
    if (done) return;
    std::perror(call);
    ::_exit(could_not_start);
}

void limit(__rlimit_resource resource, std::size_t bytes) {
    struct rlimit both {};
    require(::getrlimit(resource, &both) == 0, "getrlimit");
    both.rlim_cur = std::min<rlim_t>(bytes, both.rlim_max);
    both.rlim_max = both.rlim_cur;
    require(::setrlimit(resource, &both) == 0, "setrlimit");
}

/// Whether everybody may walk to the file: a home folder is often closed to others.
bool open_to_all(const std::filesystem::path& file) {
    for (auto folder = file.parent_path(); folder != folder.root_path(); folder = folder.parent_path()) {
        const auto permissions = std::filesystem::status(folder).permissions();
        if ((permissions & std::filesystem::perms::others_exec) == std::filesystem::perms::none) return false;
    }
    return true;
}

/// Takes away what lets root lock without limit and write where nobody may, and root itself where another
/// user could still start the program.
void become_ordinary(bool another_user) {
    if (::geteuid() != 0) return;
    for (const int capability : {CAP_IPC_LOCK, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH}) {
        require(::prctl(PR_CAPBSET_DROP, capability) == 0, "prctl(PR_CAPBSET_DROP)");
    }
    if (!another_user) return;
    require(::setgroups(0, nullptr) == 0, "setgroups");
    require(::setgid(nobody) == 0, "setgid");
    require(::setuid(nobody) == 0, "setuid");
}

[[noreturn]] void become_program(const std::filesystem::path& program, std::vector<std::string> arguments,
                                 const ProgramCircumstances& circumstances, int output, int errors) {
    require(::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(errors, STDERR_FILENO) >= 0, "dup2");
    std::signal(SIGPIPE, SIG_DFL);
    for (const auto& [name, value] : circumstances.environment) ::setenv(name.c_str(), value.c_str(), 1);
    if (circumstances.ordinary_user || circumstances.lock_limit) {
        limit(RLIMIT_MEMLOCK, circumstances.lock_limit.value_or(usual_lock_limit));
        become_ordinary(circumstances.ordinary_user && open_to_all(program));
    }
    if (circumstances.file_size_limit) {
        std::signal(SIGXFSZ, SIG_IGN);  // a full disk is an answer, not a signal
        limit(RLIMIT_FSIZE, *circumstances.file_size_limit);
    }
    std::string name = program.filename().string();
    std::vector<char*> pointers = {name.data()};
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    require(false, "execv");
    std::abort();
}

/// Reads both pipes until both are closed.
void collect(int output, int errors, ::pid_t child, const ProgramCircumstances& circumstances,
             ProgramRun& run) {
    std::array<struct pollfd, 2> polled = {{{output, POLLIN, 0}, {errors, POLLIN, 0}}};
    const std::array<std::string*, 2> texts = {&run.output, &run.errors};
    bool told = !circumstances.on_first_error_line;
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) fail("poll");
        for (std::size_t i = 0; i < polled.size(); ++i) {
            if (polled[i].fd < 0 || polled[i].revents == 0) continue;
            std::array<char, 4096> buffer{};
            const ::ssize_t count = ::read(polled[i].fd, buffer.data(), buffer.size());
            if (count > 0) texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
            if (count == 0) polled[i].fd = -1;
        }
        if (!told && run.errors.find('\n') != std::string::npos) {
            told = true;
            circumstances.on_first_error_line(child, run.errors.substr(0, run.errors.find('\n')));
        }
    }
}

}  // namespace

ProgramRun run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const ProgramCircumstances& circumstances) {
    const Pipe output;
    const Pipe errors;
    int output_file = -1;
    if (!circumstances.output.empty()) {
        output_file = ::open(circumstances.output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (output_file < 0) fail("open");
    }
    std::fflush(nullptr);  // what is buffered now would otherwise be written twice
    const ::pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        become_program(program, arguments, circumstances, output_file < 0 ? output.ends[1] : output_file,
                       errors.ends[1]);
    }
    ::close(output.ends[1]);
    ::close(errors.ends[1]);
    ProgramRun run;
    collect(output.ends[0], errors.ends[0], child, circumstances, run);
    ::close(output.ends[0]);
    ::close(errors.ends[0]);
    if (output_file >= 0) ::close(output_file);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    if (WIFEXITED(status)) run.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
    return run;
}

}  // namespace pinwarden::testing
