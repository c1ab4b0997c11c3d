#include "cli/process_facts.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace memprof {
namespace {

// /proc/PID/stat from its third field on: the second one, a name, may have spaces. Empty: gone.
std::string StatOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(") ");
  return name_end == std::string::npos ? std::string() : text.substr(name_end + 2);
}

}  // namespace

std::optional<int> WaitStatusOf(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) == pid) return status;
  const auto code = StatusOfZombie(pid);
  if (code == 0 && geteuid() != 0) return std::nullopt;
  return code;
}

std::optional<int> StatusOfZombie(pid_t pid) {
  const std::string text = StatOf(pid);
  if (!text.starts_with('Z')) return std::nullopt;
  return static_cast<int>(std::strtol(text.c_str() + text.find_last_of(' '), nullptr, 10));
}

std::optional<uint64_t> StartTicksOf(pid_t pid) {
  const std::string text = StatOf(pid);
  size_t at = 0;
  for (int field = 3; field < 22; ++field) {
    at = text.find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  return std::strtoull(text.c_str() + at, nullptr, 10);
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

std::string StatusLine(pid_t pid, const std::string& name, pid_t thread) {
  std::ifstream status(thread == 0 ? fmt::format("/proc/{}/status", pid)
                                   : fmt::format("/proc/{}/task/{}/status", pid, thread));
  const std::string begin = name + ":";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(begin)) continue;
    const size_t value = line.find_first_not_of(" \t", begin.size());
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

uint32_t NamespacePid(pid_t pid) {
  const std::string pids = StatusLine(pid, "NSpid");
  const size_t last = pids.find_last_of(" \t");
  return static_cast<uint32_t>(
      std::strtoul(pids.c_str() + (last == std::string::npos ? 0 : last + 1), nullptr, 10));
}

}  // namespace memprof
