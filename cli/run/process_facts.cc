#include "cli/run/process_facts.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace memprof {

std::optional<int> WaitStatusOf(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) == pid) return status;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || text.compare(name_end, 3, ") Z") != 0) return std::nullopt;
  const char* at = text.c_str() + text.find_last_of(' ');  // the last field; 0 where it is hidden
  const int code = static_cast<int>(std::strtol(at, nullptr, 10));
  if (code == 0 && geteuid() != 0) return std::nullopt;
  return code;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child; file >> child;) children.push_back(child);
  }
  return children;
}

std::string CommandNameOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace memprof
