#include "cli/basics/process_facts.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "cli/basics/proc_files.h"

namespace memprof {
namespace {

// /proc/PID/stat from its third field on: the second one, a name, may have spaces. Empty: the
// process is gone.
std::string StatOf(pid_t pid, const std::string& name = "stat") {
  std::string text = ProcText(pid, name);
  if (text.ends_with('\n')) text.pop_back();
  const size_t name_end = text.rfind(") ");
  return name_end == std::string::npos ? std::string() : text.substr(name_end + 2);
}

// Reads a file that exists as long as any thread lives, but is empty for a main thread that has
// ended.
std::string TextOfMemory(pid_t pid, const std::string& name, size_t most) {
  std::string text = ProcText(pid, name, most);
  if (!text.empty()) return text;
  const auto folder = LivingFolder(pid);
  return folder && !folder->empty() ? ProcText(pid, *folder + name, most) : std::string();
}

// The value of a line in one of a process's files.
std::string LineOf(pid_t pid, const std::string& file, const std::string& name) {
  std::istringstream text(ProcText(pid, file));
  const std::string begin = name + ":";
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(begin)) continue;
    const size_t value = line.find_first_not_of(" \t", begin.size());
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return {};
}

// The number of a process's filters. The strict mode has none that are counted; it gives the
// largest number.
uint32_t FiltersOf(pid_t pid) {
  // A thread that has ended has none any more.
  const std::string status = LivingFolder(pid).value_or(std::string()) + "status";
  const std::string mode = LineOf(pid, status, "Seccomp");
  if (mode == "1") return UINT32_MAX;
  if (mode != "2") return 0;
  const std::string count = LineOf(pid, status, "Seccomp_filters");  // since Linux 5.9
  return count.empty() ? 1 : static_cast<uint32_t>(std::strtoul(count.c_str(), nullptr, 10));
}

// The number of pid namespaces from /proc's down to the process's own; 0: not known.
int64_t Namespaces(pid_t pid) {
  std::istringstream pids(StatusLine(pid, "NSpid"));
  int64_t found = 0;
  for (uint64_t in_one; pids >> in_one;) ++found;
  return found;
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
  constexpr int kFlags = 9, kStart = 22;            // the fields' numbers in proc(5)
  std::istringstream text(StatOf(pid));
  ProcessState found;
  text >> found.state >> found.parent;
  found.parent = PidFromProc(found.parent);
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

std::optional<std::string> LivingFolder(pid_t pid) {
  const auto lives = [](const std::string& stat) {
    return !stat.empty() && stat[0] != 'Z' && stat[0] != 'X';
  };
  if (lives(StatOf(pid))) return std::string();
  for (const pid_t thread : ThreadsInProc(pid)) {
    const std::string folder = fmt::format("task/{}/", thread);
    if (lives(StatOf(pid, folder + "stat"))) return folder;
  }
  return std::nullopt;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : ThreadsInProc(pid)) {
    std::istringstream text(ProcText(pid, fmt::format("task/{}/children", thread)));
    for (pid_t child; text >> child;) {
      if (child = PidFromProc(child); child > 0) children.push_back(child);
    }
  }
  return children;
}

std::string CommandNameOf(pid_t pid) {
  std::string name = ProcText(pid, "comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

std::vector<std::string> CommandLineOf(pid_t pid) {
  constexpr size_t kLongest = size_t{2} << 20;  // the kernel's maximum under usual limits
  const std::string text = TextOfMemory(pid, "cmdline", kLongest);
  std::vector<std::string> command;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    command.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return command;
}

std::optional<uint64_t> AuxiliaryValue(pid_t pid, uint64_t type) {
  const std::string text = TextOfMemory(pid, "auxv", 4096);
  Elf64_auxv_t entry;
  for (size_t at = 0; at + sizeof entry <= text.size(); at += sizeof entry) {
    std::memcpy(&entry, text.data() + at, sizeof entry);
    if (entry.a_type == type) return entry.a_un.a_val;
  }
  return std::nullopt;
}

std::string StatusLine(pid_t pid, const std::string& name, pid_t thread) {
  return LineOf(pid, thread == 0 ? "status" : fmt::format("task/{}/status", thread), name);
}

std::optional<uid_t> UserOf(pid_t pid) {
  uid_t real = 0, effective = 0;
  if (!(std::istringstream(StatusLine(pid, "Uid")) >> real >> effective)) return std::nullopt;
  return effective;
}

bool HasFiltersOfItsOwn(pid_t pid) { return FiltersOf(pid) > OwnFilters(); }
uint32_t OwnFilters() { return FiltersOf(getpid()); }

bool HasOwnPids(pid_t pid) { return Namespaces(pid) > Namespaces(getpid()); }

uint32_t NamespacePid(pid_t pid) {
  const std::string pids = StatusLine(pid, "NSpid");
  const size_t last = pids.find_last_of(" \t");
  return static_cast<uint32_t>(
      std::strtoul(pids.c_str() + (last == std::string::npos ? 0 : last + 1), nullptr, 10));
}

}  // namespace memprof
