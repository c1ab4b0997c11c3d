#include "cli/supervisor/channels/private_directory.h"

#include <fmt/format.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/stale_directories.h"

namespace memprof {
namespace {

constexpr char kRandomPart[] = "XXXXXX";
constexpr size_t kRoomForNames = 32;  // for the directory's name, and a socket's name in it
constexpr std::chrono::minutes kStaleAfter{1};

std::string MakeIn(const std::string& base) {
  RemoveStaleDirectories(base, kStaleAfter);
  std::string pattern = base + "/" + kPrivateDirectoryPrefix + kRandomPart;
  return mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

// A socket's path must be short, and a link to the preload must be usable in LD_PRELOAD.
bool IsFit(const char* base) {
  return base != nullptr && base[0] == '/' && IsPreloadable(base) &&
         strlen(base) + kRoomForNames < sizeof(sockaddr_un::sun_path);
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::Make(
    bool passable, const std::function<bool(const std::string&)>& is_seen) {
  std::vector<const char*> bases = {passable ? nullptr : std::getenv("XDG_RUNTIME_DIR"), "/tmp"};
  if (is_seen) bases.insert(bases.end(), {"/run", "/dev/shm"});
  bool any_made = false;
  for (const char* base : bases) {
    const std::string path = IsFit(base) ? MakeIn(base) : std::string();
    if (path.empty()) continue;
    if (!is_seen || is_seen(path)) return PrivateDirectory(path);
    any_made = true;
    rmdir(path.c_str());
  }
  if (any_made) {
    return Fail(ErrorKind::kUsage,
                "none of $XDG_RUNTIME_DIR, /tmp, /run and /dev/shm is the same directory for it as "
                "for memprof (PrivateTmp=yes, a container, a chroot)");
  }
  return Fail(ErrorKind::kIo, fmt::format("no directory for the socket can be made in "
                                          "$XDG_RUNTIME_DIR or /tmp: {}",
                                          strerror(errno)));
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), files_(std::exchange(other.files_, {})) {}

PrivateDirectory::~PrivateDirectory() {
  for (const std::string& file : files_) unlink(file.c_str());
  if (!path_.empty()) rmdir(path_.c_str());
}

void PrivateDirectory::Disown() {
  path_.clear();
  files_.clear();
}

std::string PrivateDirectory::Hold(const std::string& name) {
  files_.push_back(path_ + "/" + name);
  return files_.back();
}

}  // namespace memprof
