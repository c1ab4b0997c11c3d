#include "cli/supervisor/images/program_mark.h"

#include <sys/personality.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "cli/basics/proc_files.h"
#include "core/region/mapping_line.h"

namespace memprof {

ProgramMark MarkOf(pid_t pid) {
  ProgramMark mark;
  struct stat info;
  if (!StatProcFile(pid, "exe", info)) return mark;
  mark.device = info.st_dev;
  mark.inode = info.st_ino;
  mark.auxiliary = ProcText(pid, "auxv");
  return mark;
}

std::optional<bool> HasExecuted(const ProgramMark& before, const ProgramMark& now) {
  if (!before.known() && !now.known()) return false;
  if (!before.known() || !now.known()) return std::nullopt;
  if (before.device != now.device || before.inode != now.inode) return true;
  // A process that ended in between has none any more.
  if (before.auxiliary.empty() || now.auxiliary.empty()) return false;
  return before.auxiliary != now.auxiliary;
}

bool HasRandomAddresses(pid_t pid) {
  std::ifstream everywhere("/proc/sys/kernel/randomize_va_space");
  if (everywhere.peek() == '0') return false;
  const std::string text = ProcText(pid, "personality");
  return (std::strtoul(text.c_str(), nullptr, 16) & ADDR_NO_RANDOMIZE) == 0;
}

std::optional<bool> HasMapped(pid_t pid, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return std::nullopt;
  ProcessMaps maps(pid);
  for (std::string line; maps.Next(line);) {
    const auto mapping = ParseMappingLine(line);
    if (mapping && mapping->inode == info.st_ino) return true;
  }
  return maps.whole() ? std::optional(false) : std::nullopt;
}

}  // namespace memprof
