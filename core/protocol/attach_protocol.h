// The interface between `memprof attach` and the library that it loads into a process
// (libmemprof_attach.so): the names that the library exports, their arguments and results. A
// changed layout gets new names. A library of another build, left there by an earlier memprof, is
// therefore told from ours.
//
//   memprof_attach_state_v1          AttachState, which the attaching process reads
//   memprof_attach_v1(socket_path)   AttachResult: gets the region there, hooks, counts
//   memprof_detach_v1()              stops counting and unhooks; returns the number of slots that
//                                    were restored
//   memprof_forget_v1()              returns 0: gives back all memory and is as it was when it was
//                                    loaded. Pre: detached; no other thread runs in the library or
//                                    has a frame in it
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
  kAttached,  // hooked; counts, unless this is a forked child
  kDetached   // unhooked; its tables are still there
};

enum class AttachResult : uint64_t {
  kCounting,
  kBusy,         // attached already
  kNoAllocator,  // no malloc was found
  kNoMemory,
  kNoRegion,  // the supervisor sent none
  kNoStart    // the region's stop_reason says why
};

struct AttachState {
  uint32_t phase;  // AttachPhase
  // getpid() of the process that was attached to: a forked child inherits this struct
  uint32_t pid;
  uint32_t slots;  // number of slots that hold our hooks
  uint32_t left;   // slots of our functions that hold somebody else's
  // The library's thread-local storage: its offset from the thread pointer, and its length.
  int64_t tls_offset;
  uint64_t tls_bytes;
  char socket[108];  // the path at which its supervisor listens
};

}  // namespace memprof
