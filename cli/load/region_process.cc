#include "cli/load/region_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>

#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "core/protocol/region_layout.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

// Compares the file's number. Some file systems (overlayfs) show another number there, but the same
// path.
bool Maps(pid_t process, const struct stat& file, const std::string& path) {
  const std::string device = fmt::format("{:02x}:{:02x}", major(file.st_dev), minor(file.st_dev));
  ProcessMaps maps(process);
  for (std::string line; maps.Next(line);) {
    const auto mapping = ParseMappingLine(line);
    if (!mapping || mapping->inode == 0) continue;
    if (mapping->inode == file.st_ino && mapping->device == device) return true;
    if (!path.empty() && mapping->name == path) return true;
  }
  // It has the right pid and can't be asked. Taking it for the process is safer than calling the
  // run ended.
  return !maps.whole() && LivingFolder(process);
}

}  // namespace

pid_t FindRegionProcess(int fd, const std::string& file) {
  struct stat info;
  uint32_t pid = 0;
  if (fstat(fd, &info) != 0 || pread(fd, &pid, sizeof pid, offsetof(RegionHeader, pid)) !=
                                   static_cast<ssize_t>(sizeof pid)) {
    return 0;
  }
  std::error_code error;
  const std::string path = std::filesystem::canonical(file, error).string();
  for (const pid_t process : AllProcesses()) {
    if (NamespacePid(process) == pid && Maps(process, info, path)) return process;
  }
  return 0;
}

}  // namespace memprof
