// TrackerSocket: where trackers come for their region (core/handshake.h). A unix socket in a fresh
// directory of mode 0700, which is removed with the object.
//
// Thread safety: none. Failure: Result; a peer that misbehaves is turned away and changes nothing.
// Security: peers of another user are turned away; the pid is the kernel's word, not the peer's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/result.h"

namespace memprof {

class TrackerSocket {
 public:
  static Result<TrackerSocket> Open();

  TrackerSocket(TrackerSocket&& other) noexcept;
  TrackerSocket& operator=(TrackerSocket&&) = delete;
  ~TrackerSocket();

  // Non-blocking; readable when a tracker waits.
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  const std::string& directory() const { return directory_; }

  // A tracker that waits for its answer.
  struct Visitor {
    int fd;  // closed by Answer
    pid_t pid;
  };
  // The next visitor, if there is one that speaks our protocol.
  std::optional<Visitor> Accept();
  // Gives the region, or sends the tracker away (region_fd < 0).
  void Answer(const Visitor& visitor, int region_fd, uint64_t region_bytes);

 private:
  TrackerSocket(int fd, std::string directory, std::string path);

  int fd_;
  std::string directory_;
  std::string path_;
};

}  // namespace memprof
