#include "cli/reports/region_process.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/region_layout.h"

namespace memprof {
namespace {

// The last of its pids: the one by which it knows itself. 0: not known.
uint64_t OwnPid(const std::string& process) {
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("NSpid:")) {
      return std::strtoull(line.c_str() + line.find_last_of(" \t:") + 1, nullptr, 10);
    }
  }
  return 0;
}

// By the file's number; some file systems (overlayfs) show another one there, but the same path.
bool Maps(const std::string& process, const struct stat& file, const std::string& path) {
  const std::string device = fmt::format("{:02x}:{:02x}", major(file.st_dev), minor(file.st_dev));
  std::ifstream maps(process + "/maps");
  // It has the right pid, and can't be asked: rather it than to end what still counts.
  if (!maps) return access(process.c_str(), F_OK) == 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, of_device, name;
    uint64_t inode = 0;
    words >> range >> rights >> offset >> of_device >> inode >> std::ws;
    if (inode == 0) continue;
    if (inode == file.st_ino && of_device == device) return true;
    std::getline(words, name);
    if (!path.empty() && name == path) return true;
  }
  return false;
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
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string process = "/proc/" + name;
    if (OwnPid(process) == pid && Maps(process, info, path)) return std::atoi(name.c_str());
  }
  return 0;
}

}  // namespace memprof
