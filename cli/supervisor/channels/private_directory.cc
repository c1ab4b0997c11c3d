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
constexpr size_t kRoomForNames = 32;  // of the directory, and of a socket in it
constexpr std::chrono::minutes kStaleAfter{1};

std::string MakeIn(const std::string& base) {
  RemoveStaleDirectories(base, kStaleAfter);
  std::string pattern = base + "/" + kPrivateDirectoryPrefix + kRandomPart;
  return mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

// A socket's path is short, and a link to the preload must be fit for LD_PRELOAD.
bool IsFit(const char* base) {
  return base != nullptr && base[0] == '/' && IsPreloadable(base) &&
         strlen(base) + kRoomForNames < sizeof(sockaddr_un::sun_path);
}

}  // namespace

Result<PrivateDirectory> PrivateDirectory::Make(bool passable) {
  const char* runtime = passable ? nullptr : std::getenv("XDG_RUNTIME_DIR");
  std::string path = IsFit(runtime) ? MakeIn(runtime) : std::string();
  if (path.empty()) path = MakeIn("/tmp");
  if (path.empty()) {
    return Fail(ErrorKind::kIo, fmt::format("no directory for the socket can be made in "
                                            "$XDG_RUNTIME_DIR or /tmp: {}",
                                            strerror(errno)));
  }
  return PrivateDirectory(path);
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
