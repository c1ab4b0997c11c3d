#include "cli/basics/command_output.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/scoped_fd.h"

namespace memprof {

namespace {

std::vector<char*> PointersTo(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  return pointers;
}

bool IsReplaced(std::string_view variable, const std::vector<std::string>& by) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::any_of(by.begin(), by.end(),
                     [name](const std::string& one) { return one.starts_with(name); });
}

}  // namespace

std::string OutputOf(const std::vector<std::string>& argv, const CommandOptions& options) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return {};
  const ScopedFd reading(fds[0]);
  ScopedFd writing(fds[1]);
  std::vector<char*> pointers = PointersTo(argv);
  pointers.push_back(nullptr);
  std::vector<char*> variables = PointersTo(options.environment);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!IsReplaced(*variable, options.environment)) variables.push_back(*variable);
  }
  variables.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
  if (options.with_errors) {
    posix_spawn_file_actions_adddup2(&actions, writing.get(), STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  writing.Reset();
  std::string output;
  char buffer[4096];
  for (ssize_t n; error == 0 && (n = read(reading.get(), buffer, sizeof buffer)) != 0;) {
    if (n > 0) {
      output.append(buffer, static_cast<size_t>(n));
    } else if (errno != EINTR) {
      break;
    }
  }
  if (error == 0) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return output;
}

}  // namespace memprof
