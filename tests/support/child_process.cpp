// SPDX-License-Identifier: Apache-2.0
#include <support/child_process.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <cerrno>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pinwarden::testing {

namespace {

constexpr int nobody = 65534;

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// A file without a name that parent and child share: unlike a pipe it takes any amount before anybody reads.
using SharedFile = std::unique_ptr<std::FILE, FileCloser>;

SharedFile make_shared_file() {
    SharedFile file(std::tmpfile());
    if (!file) throw std::system_error(errno, std::generic_category(), "tmpfile");
    return file;
}

std::string content(std::FILE* file) {
    std::rewind(file);
    std::string text;
    for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file))
        text.push_back(static_cast<char>(letter));
    return text;
}

int run(const std::function<std::string()>& work, std::FILE* answer) {
    int status = 0;
    std::string text;
    try {
        text = work();
    } catch (const std::exception& error) {
        status = 1;
        text = error.what();
    }
    std::fwrite(text.data(), 1, text.size(), answer);
    std::fflush(answer);
    return status;
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work) {
    const SharedFile answer = make_shared_file();
    const SharedFile errors = make_shared_file();
    std::fflush(nullptr);  // what is buffered now would otherwise be written twice
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        ::dup2(::fileno(errors.get()), STDERR_FILENO);
        ::_exit(run(work, answer.get()));
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(answer.get()), content(errors.get())};
}

void become_unprivileged() {
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) {
        throw std::system_error(errno, std::generic_category(), "setresuid");
    }
    ::prctl(PR_SET_DUMPABLE,
            1);  // else /proc/self belongs to root and the child could not read of its own memory
}

}  // namespace pinwarden::testing
