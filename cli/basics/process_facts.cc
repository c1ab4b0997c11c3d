#include "cli/basics/process_facts.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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

// Filters of a process; as many as are possible for the strict mode, which is none that is counted.
uint32_t FiltersOf(pid_t pid) {
  const std::string mode = StatusLine(pid, "Seccomp");
  if (mode == "1") return UINT32_MAX;
  if (mode != "2") return 0;
  const std::string count = StatusLine(pid, "Seccomp_filters");  // since Linux 5.9
  return count.empty() ? 1 : static_cast<uint32_t>(std::strtoul(count.c_str(), nullptr, 10));
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

std::optional<ProcessState> StateOf(pid_t pid) {
  constexpr uint64_t kThreadOfKernel = 0x00200000;  // PF_KTHREAD
  constexpr uint64_t kForkedOnly = 0x00000040;      // PF_FORKNOEXEC
  constexpr int kFlags = 9, kStart = 22;            // as proc(5) counts the fields
  std::istringstream text(StatOf(pid));
  ProcessState found;
  text >> found.state >> found.parent;
  uint64_t flags = 0;
  std::string skipped;
  for (int field = 5; field < kFlags; ++field) text >> skipped;
  text >> flags;
  for (int field = kFlags + 1; field < kStart; ++field) text >> skipped;
  text >> found.start_ticks;
  if (!text) return std::nullopt;
  found.of_kernel = (flags & kThreadOfKernel) != 0;
  found.executed = (flags & kForkedOnly) == 0;
  return found;
}

std::optional<uint64_t> StartTicksOf(pid_t pid) {
  const auto state = StateOf(pid);
  return state ? std::optional(state->start_ticks) : std::nullopt;
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

std::vector<std::string> CommandLineOf(pid_t pid) {
  constexpr size_t kLongest = size_t{2} << 20;  // as the kernel takes with usual limits
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string text(kLongest, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  std::vector<std::string> command;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    command.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return command;
}

std::optional<uint64_t> AuxiliaryValue(pid_t pid, uint64_t type) {
  std::ifstream file(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  for (Elf64_auxv_t entry; file.read(reinterpret_cast<char*>(&entry), sizeof entry);) {
    if (entry.a_type == type) return entry.a_un.a_val;
  }
  return std::nullopt;
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

bool HasFiltersOfItsOwn(pid_t pid) { return FiltersOf(pid) > OwnFilters(); }
uint32_t OwnFilters() { return FiltersOf(getpid()); }

bool HasOwnPids(pid_t pid) {
  return StatusLine(pid, "NSpid").find_first_of(" \t") != std::string::npos;
}

uint32_t NamespacePid(pid_t pid) {
  const std::string pids = StatusLine(pid, "NSpid");
  const size_t last = pids.find_last_of(" \t");
  return static_cast<uint32_t>(
      std::strtoul(pids.c_str() + (last == std::string::npos ? 0 : last + 1), nullptr, 10));
}

}  // namespace memprof
