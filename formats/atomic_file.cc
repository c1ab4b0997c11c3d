#include "formats/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/write_all.h"

namespace memprof {
namespace {

constexpr int kNamesTried = 100;

std::string Why(const std::string& path) {
  return fmt::format("{} can't be written: {}", path, std::strerror(errno));
}

// Makes a new file beside `path` and puts its name into `beside`. The mode is given to open():
// mkstemp would need the umask, and reading the umask means setting it.
int MakeBeside(const std::string& path, Readers readers, std::string& beside) {
  for (int i = 0; i < kNamesTried; ++i) {
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
      random = static_cast<uint32_t>(i) + static_cast<uint32_t>(getpid()) * kNamesTried;
    }
    beside = fmt::format("{}.{:08x}", path, random);
    const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        readers == Readers::kOwner ? 0600 : 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

// The rename survives a crash of the machine only once the directory is written.
void SyncDirectory(const std::filesystem::path& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

}  // namespace

bool IsSystemsLink(const std::string& path) {
  std::error_code error;
  const std::filesystem::path name(path);
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(name, error))) return false;
  const std::string folder =
      std::filesystem::canonical(name.has_parent_path() ? name.parent_path() : ".", error).string();
  return folder == "/dev" || folder.starts_with("/dev/") || folder.starts_with("/proc/");
}

Result<void> WriteFileAtomically(const std::string& path, const std::string& bytes,
                                 Readers readers) {
  if (IsSystemsLink(path)) {
    return Fail(ErrorKind::kIo,
                path + " can't be written: all programs on this machine use that link");
  }
  std::string beside;
  const int fd = MakeBeside(path, readers, beside);
  if (fd < 0) return Fail(ErrorKind::kIo, Why(path));
  const bool written = WriteAll(fd, bytes.data(), bytes.size()) && fsync(fd) == 0;
  const std::string why = Why(path);
  if (close(fd) != 0 || !written) {
    unlink(beside.c_str());
    return Fail(ErrorKind::kIo, why);
  }
  if (rename(beside.c_str(), path.c_str()) != 0) {
    const std::string renaming = Why(path);
    unlink(beside.c_str());
    return Fail(ErrorKind::kIo, renaming);
  }
  const auto directory = std::filesystem::path(path).parent_path();
  SyncDirectory(directory.empty() ? "." : directory);
  return {};
}

}  // namespace memprof
