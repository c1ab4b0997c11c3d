// TrackerSocket: where trackers come for their region (core/protocol/handshake.h). A unix socket in
// a private directory, which removes it.
//
// Thread safety: none. Failure: Result; a peer that misbehaves is turned away and changes nothing.
// Security: peers of another user are turned away, but by root those that are known to be of this
// run; pid and user are the kernel's word, not the peer's. Who isn't let in isn't waited for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/supervisor/channels/private_directory.h"
#include "core/protocol/handshake.h"
#include "core/result.h"

namespace memprof {

inline constexpr char kTrackerSocketName[] = "tracker";  // in the private directory

class TrackerSocket {
 public:
  static Result<TrackerSocket> Open(PrivateDirectory& directory);

  TrackerSocket(TrackerSocket&& other) noexcept;
  TrackerSocket& operator=(TrackerSocket&&) = delete;
  ~TrackerSocket();

  // Non-blocking; readable when a tracker waits.
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

  // A tracker that waits for its answer.
  struct Visitor {
    int fd;  // closed by the answer
    pid_t pid;
    bool foreign_pids;  // it may have another pid in its own namespace
    uid_t user;
    uint64_t most_region_bytes = kAnyRegionBytes;  // that its process has room for
  };
  // The next visitor, if there is one that speaks our protocol. `is_of_this_run` is asked about
  // peers of another user.
  std::optional<Visitor> Accept(const std::function<bool(pid_t)>& is_of_this_run = {});
  // What forked children of the visitor need (core/protocol/children_area.h).
  struct ForChildren {
    int fd = -1;  // -1: they are not followed
    uint64_t bytes = 0;
    uint64_t image = 0;  // the visitor's ImageId
  };
  // Gives it the region. False: it has given up waiting.
  bool Admit(const Visitor& visitor, int region_fd, uint64_t region_bytes,
             const ForChildren& children = {-1, 0, 0});
  // It is to run untracked.
  void SendAway(const Visitor& visitor) { Answer(visitor, -1, 0, {-1, 0, 0}); }

 private:
  bool Answer(const Visitor& visitor, int region_fd, uint64_t region_bytes,
              const ForChildren& children);
  TrackerSocket(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;
  std::string path_;
};

}  // namespace memprof
