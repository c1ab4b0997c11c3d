// TrackerSocket: gives trackers their regions (core/protocol/handshake.h). A unix socket in a
// private directory; the directory removes it.
//
// Thread safety: none. Failure: Result; a misbehaving peer is turned away and changes nothing.
// Security: peers of another user are turned away, except that root admits those that are known to
// belong to this run. The kernel tells the peer's pid and user. Nobody waits for a rejected peer.
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
#include "core/scoped_fd.h"

namespace memprof {

inline constexpr char kTrackerSocketName[] = "tracker";  // in the private directory

class TrackerSocket {
 public:
  static Result<TrackerSocket> Open(PrivateDirectory& directory);

  // Non-blocking; readable when a tracker waits.
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  // A tracker that waits for its answer.
  struct Visitor {
    int fd;  // closed by the answer
    pid_t pid;
    bool foreign_pids;  // it may have another pid in its own namespace
    uid_t user;
    uint64_t most_region_bytes = kAnyRegionBytes;  // the size that the process's limits allow
  };
  // The next visitor that speaks our protocol, if there is one. `is_of_this_run` is called for
  // peers of another user.
  std::optional<Visitor> Accept(const std::function<bool(pid_t)>& is_of_this_run = {});
  // The children's area for the visitor's forked children (core/protocol/children_area.h).
  struct ForChildren {
    int fd = -1;  // -1: they are not followed
    uint64_t bytes = 0;
    uint64_t image = 0;  // the visitor's ImageId
  };
  // Gives it the region. False: the visitor has given up waiting.
  bool Admit(const Visitor& visitor, int region_fd, uint64_t region_bytes,
             const ForChildren& children = {-1, 0, 0});
  // Tells the visitor to run untracked.
  void SendAway(const Visitor& visitor) { Answer(visitor, -1, 0, {-1, 0, 0}); }

 private:
  bool Answer(const Visitor& visitor, int region_fd, uint64_t region_bytes,
              const ForChildren& children);
  TrackerSocket(ScopedFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  ScopedFd fd_;
  std::string path_;
};

}  // namespace memprof
