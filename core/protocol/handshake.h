// How a tracker finds its region: one exchange over a unix SOCK_SEQPACKET socket.
//
//   tracker  → supervisor   Hello
//   supervisor → tracker    Welcome, with the region's descriptor as SCM_RIGHTS if `accepted`, and
//                           behind it the children's area's if there is one (children_area.h)
//
// The tracker waits at most kHandshakeTimeoutMs for each step, then the program runs untracked.
// Who the peer is, the supervisor learns from SO_PEERCRED, never from the Hello.
// Freestanding, as region_layout.h.
#pragma once

#include <cstdint>

namespace memprof {

// Environment: the path of the supervisor's socket, and of the preload (so that both can be
// taken out of the environment again by who wants a clean one).
inline constexpr char kSocketVariable[] = "MEMPROF_SOCKET";

// Environment: how many filters of system calls (seccomp) the supervisor has itself, if it has any.
// A process that has more may be killed for a call that the tracker makes, so it runs untracked.
inline constexpr char kFiltersVariable[] = "MEMPROF_FILTERS";

inline constexpr uint32_t kHandshakeVersion = 3;
inline constexpr int kHandshakeTimeoutMs = 200;

inline constexpr uint64_t kAnyRegionBytes = ~uint64_t{0};

struct Hello {
  uint32_t version;  // kHandshakeVersion
  uint32_t pid;      // getpid() of the tracker: a hint for messages
  // The region that its process has room for, by its limits: those of the supervisor may be others.
  uint64_t most_region_bytes = kAnyRegionBytes;
};

struct Welcome {
  uint32_t version;
  uint32_t accepted;        // 0: run untracked (a descendant that is not followed)
  uint64_t region_bytes;    // size to map
  uint64_t children_bytes;  // likewise; 0: forked children are not followed
  uint64_t image;           // ImageId of this image of the process
  uint32_t foreign_pids;    // 1: its namespace of pids isn't surely the supervisor's
  uint32_t reserved;
};

}  // namespace memprof
