// PrivateDirectory: a new directory of mode 0700 for the socket, under $XDG_RUNTIME_DIR or /tmp. If
// other users have to pass, its mode is 0711.
//
// Ownership: removed with the object, together with the files that it holds. Make also removes
// directories that a killed memprof has left (stale_directories.h).
// A process with another view of the file system (a mount namespace, a chroot) may not see it there.
// If one has to, /run and /dev/shm are tried too.
// Failure: kIo if no directory can be made; kUsage if the process sees none.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace memprof {

inline constexpr char kPrivateDirectoryPrefix[] = "memprof-";

class PrivateDirectory {
 public:
  // `passable`: other users have to reach it, which they may not in $XDG_RUNTIME_DIR.
  // `is_seen`: whether the process that has to reach it sees the directory of this path.
  static Result<PrivateDirectory> Make(bool passable = false,
                                       const std::function<bool(const std::string&)>& is_seen = {});

  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  const std::string& path() const { return path_; }
  // Keeps the directory: it belongs to another process now.
  void Disown();

  // The path of a file in the directory; the file is removed with it.
  std::string Hold(const std::string& name);

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<std::string> files_;
};

}  // namespace memprof
