#include "cli/supervisor/images/program_mark.h"

#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/region/mapping_line.h"

namespace memprof {

ProgramMark MarkOf(pid_t pid) {
  ProgramMark mark;
  struct stat info;
  if (stat(fmt::format("/proc/{}/exe", pid).c_str(), &info) != 0) return mark;
  mark.device = info.st_dev;
  mark.inode = info.st_ino;
  std::ifstream file(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  mark.auxiliary.assign(std::istreambuf_iterator<char>(file), {});
  return mark;
}

std::optional<bool> HasExecuted(const ProgramMark& before, const ProgramMark& now) {
  if (!before.known() && !now.known()) return false;
  if (!before.known() || !now.known()) return std::nullopt;
  if (before.device != now.device || before.inode != now.inode) return true;
  // What ended in between has none any more.
  if (before.auxiliary.empty() || now.auxiliary.empty()) return false;
  return before.auxiliary != now.auxiliary;
}

bool HasRandomAddresses(pid_t pid) {
  std::ifstream everywhere("/proc/sys/kernel/randomize_va_space");
  if (everywhere.peek() == '0') return false;
  std::ifstream file(fmt::format("/proc/{}/personality", pid));
  std::string text;
  file >> text;
  return (std::strtoul(text.c_str(), nullptr, 16) & ADDR_NO_RANDOMIZE) == 0;
}

std::optional<bool> HasMapped(pid_t pid, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return std::nullopt;
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  bool any = false;
  for (std::string line; std::getline(maps, line);) {
    any = true;
    const auto mapping = ParseMappingLine(line);
    if (mapping && mapping->inode == info.st_ino) return true;
  }
  return any ? std::optional(false) : std::nullopt;
}

}  // namespace memprof
