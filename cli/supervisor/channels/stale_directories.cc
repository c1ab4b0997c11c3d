#include "cli/supervisor/channels/stale_directories.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <vector>

#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "core/scoped_fd.h"

namespace memprof {
namespace {

bool IsOurs(const std::string& path, std::chrono::seconds age) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         ((info.st_mode & 07777) == 0700 || (info.st_mode & 07777) == 0711) &&
         info.st_mtime + age.count() <= std::time(nullptr);
}

bool NobodyListens(const std::string& socket_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (socket_path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size());
  const ScopedFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return fd &&
         connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace

void RemoveStaleDirectories(const std::string& base, std::chrono::seconds age) {
  std::error_code error;
  std::vector<std::string> found;
  for (auto entry = std::filesystem::directory_iterator(base, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().starts_with(kPrivateDirectoryPrefix)) {
      found.push_back(entry->path().string());
    }
  }
  for (const std::string& path : found) {
    const std::string socket_path = path + "/" + kTrackerSocketName;
    if (!IsOurs(path, age) || !NobodyListens(socket_path)) continue;
    unlink(socket_path.c_str());
    for (const char* file : {kControlSocketName, kPreloadName, kJemallocPreloadName}) {
      unlink((path + "/" + file).c_str());
    }
    rmdir(path.c_str());
  }
}

}  // namespace memprof
