// PrivateDirectory: a fresh directory of mode 0700 for the socket, under $XDG_RUNTIME_DIR or /tmp.
// Who lets other users pass makes it 0711.
//
// Ownership: removed with the object, with what it was told to hold. Make also removes those that a
// killed memprof has left (stale_directories.h).
// Failure: kIo if neither place takes a directory.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"

namespace memprof {

inline constexpr char kPrivateDirectoryPrefix[] = "memprof-";

class PrivateDirectory {
 public:
  // `passable`: other users are to reach it, which they may not in $XDG_RUNTIME_DIR.
  static Result<PrivateDirectory> Make(bool passable = false);

  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();

  const std::string& path() const { return path_; }
  // It is another process' now, and stays.
  void Disown();

  // The path of a file in it, which is removed with it.
  std::string Hold(const std::string& name);

 private:
  explicit PrivateDirectory(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<std::string> files_;
};

}  // namespace memprof
