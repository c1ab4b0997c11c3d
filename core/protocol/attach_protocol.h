// What `memprof attach` and the library that it loads into a process (libmemprof_attach.so) agree
// on: the names that the library exports, and what they take and give. Another layout is another
// name, so that a library of another build, which an earlier memprof left there, is told from ours.
//
//   memprof_attach_state_v1          AttachState, which the attaching process reads
//   memprof_attach_v1(socket_path)   AttachResult: gets the region there, hooks, counts
//   memprof_detach_v1()              how many slots were given back: stops counting, unhooks
//   memprof_forget_v1()              0: gives back all memory and is as it was when it was loaded.
//                                    Pre: detached; no other thread runs or has a frame in here
//
// Freestanding, as region_layout.h.
#pragma once

#include <cstdint>

namespace memprof {

inline constexpr char kAttachStateName[] = "memprof_attach_state_v1";
inline constexpr char kAttachName[] = "memprof_attach_v1";
inline constexpr char kDetachName[] = "memprof_detach_v1";
inline constexpr char kForgetName[] = "memprof_forget_v1";

enum class AttachPhase : uint32_t {
  kIdle,      // as loaded, or after memprof_forget
  kAttached,  // hooked; it counts, unless this is a forked child
  kDetached   // unhooked; what it counted with is still there
};

enum class AttachResult : uint64_t {
  kCounting,
  kBusy,         // attached already
  kNoAllocator,  // no malloc is to be found
  kNoMemory,
  kNoRegion,  // the supervisor gave none
  kNoStart    // the region's stop_reason says why
};

struct AttachState {
  uint32_t phase;  // AttachPhase
  uint32_t pid;    // getpid() of who was attached: a forked child inherits all this
  uint32_t slots;  // that hold our hooks
  uint32_t left;   // of our functions' slots that hold somebody else's
  // Where each thread's own part of the library begins, from its thread pointer, and its length.
  int64_t tls_offset;
  uint64_t tls_bytes;
  char socket[108];  // where its supervisor listens
};

}  // namespace memprof
