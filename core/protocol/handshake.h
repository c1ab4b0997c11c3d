// The handshake by which a tracker gets its region: one exchange over a unix SOCK_SEQPACKET socket.
//
//   tracker  → supervisor   Hello
//   supervisor → tracker    Welcome. If `accepted`, SCM_RIGHTS carries the region's descriptor, and
//                           after it that of the children's area if there is one (children_area.h).
//
// The tracker waits at most kHandshakeTimeoutMs for each step; then the program runs untracked. The
// supervisor takes the peer's identity from SO_PEERCRED, never from the Hello.
// Freestanding, as region_layout.h.
#pragma once

#include <cstdint>

namespace memprof {

// Environment: the paths of the supervisor's socket and of the preload. The second allows a process
// to take both out of its environment again.
inline constexpr char kSocketVariable[] = "MEMPROF_SOCKET";

// Environment: the number of the supervisor's own seccomp filters, if it has any. A process with
// more filters may be killed for a call that the tracker makes, so it runs untracked.
inline constexpr char kFiltersVariable[] = "MEMPROF_FILTERS";

inline constexpr uint32_t kHandshakeVersion = 3;
inline constexpr int kHandshakeTimeoutMs = 1000;  // many programs may start at once

inline constexpr uint64_t kAnyRegionBytes = ~uint64_t{0};

struct Hello {
  uint32_t version;  // kHandshakeVersion
  uint32_t pid;      // getpid() of the tracker: a hint, used in messages only
  // The largest region that the process's own limits allow: they may differ from the supervisor's.
  uint64_t most_region_bytes = kAnyRegionBytes;
};

struct Welcome {
  uint32_t version;
  uint32_t accepted;        // 0: run untracked (a descendant that is not followed)
  uint64_t region_bytes;    // size to map
  uint64_t children_bytes;  // size of the children's area; 0: forked children are not followed
  uint64_t image;           // ImageId of this image of the process
  uint32_t foreign_pids;    // 1: its pid namespace may not be the supervisor's
  uint32_t reserved;
};

}  // namespace memprof
