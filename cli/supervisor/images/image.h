// Image: one program that the profiled process runs, from its tracker's connecting to its exec or
// end: its region and what only the outside can know of it.
//
// Thread safety: none. Failure: what /proc doesn't tell stays unknown.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/images/image_history.h"
#include "cli/supervisor/images/memory_watch.h"
#include "cli/supervisor/images/program_mark.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/images/snapshot_taker.h"
#include "core/protocol/region_layout.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// What tells the image of a descendant from the program's own.
struct ImageOrigin {
  const SnapshotProgram* forked_from = nullptr;                // it runs what that one did
  std::optional<std::chrono::steady_clock::time_point> start;  // if it was before now
  uint64_t history_scale = 1;  // intervals begin so many times longer
  bool command_line = true;    // it is in the capture
  bool is_there = true;  // false: that the process runs this image is only what was claimed, so
                         // that nothing is asked about that process
};

class Image {
 public:
  // `name`: as the user called the program; empty: the executable's.
  Image(RegionFile region, pid_t pid, std::string name, const ImageOrigin& origin = {});

  RegionPlace region() const { return region_.place(); }
  const std::string& name() const { return program_.program; }
  const SnapshotProgram& program() const { return program_; }

  // Looks at the heap's peak and the process's memory. False: nothing changed since the last.
  bool Sample();

  // Follows the heap over time: to be called when it is due.
  void LookAtHistory();
  std::chrono::steady_clock::time_point NextLook() const;
  // As of now. Pre: Describe(end, …) was called.
  RegionHistory History(EndKind end);

  // No thread of ours reads it any more, until the next look.
  void Settle() {
    history_.Settle();
    memory_.Settle();
  }

  // Named snapshots, which History() has as well.
  SnapshotTaker& snapshots() { return snapshots_; }
  const SnapshotTaker& snapshots() const { return snapshots_; }
  std::chrono::steady_clock::time_point start() const { return start_; }
  uint64_t NowMs() const;
  // RSS; nothing where the process is gone or runs something else.
  std::optional<uint64_t> ResidentBytes() const;

  // The heap's peak, when it was last sampled.
  uint64_t peak_bytes() const { return peak_; }

  // A tracker counts here, or has. (One that got its region too late leaves it as it was.)
  bool Attached() const { return State() != TrackerState::kEmpty; }

  // The jemalloc inside the executable has no hooks, whatever its symbols promised.
  bool JemallocRefused() const;

  // What of it is in no figure: in its history, and so in its capture.
  void AddUnseen(const Unseen& unseen) { memprof::AddUnseen(unseen_, {unseen}); }
  // An allocator inside its executable (elf_facts.h); empty: none.
  void AddUnseenAllocator(const std::string& allocator) {
    if (!allocator.empty()) AddUnseen({Unseen::Kind::kAllocator, allocator, name(), 1});
  }

  // The process has executed something else, from which no tracker came.
  bool replaced() const { return replaced_; }
  const std::string& replaced_by() const { return replaced_by_; }  // empty: not known
  void MarkReplaced() { replaced_ = true; }
  // Looks whether it has, for a process that lives.
  bool LookForExec();
  // For a process that exited and is not reaped yet: whether it did so as another program. Exact
  // where the last Sample saw it; else told by a name that its tracker knows nothing of, together
  // with an exit that the tracker didn't see.
  void LookForLateExec();

  // What is known of the program as of now. `end` is kRunning while it lives.
  SnapshotProgram Describe(EndKind end, uint32_t code);

 private:
  TrackerState State() const;
  std::optional<bool> HasExecutedBy(const ProgramMark& now);
  std::string ToldName() const;

  RegionFile region_;
  pid_t pid_;
  SnapshotProgram program_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_sample_;
  ImageHistory history_;
  MemoryWatch memory_;
  SnapshotTaker snapshots_;
  ProgramMark mark_;
  bool random_addresses_;
  std::chrono::steady_clock::time_point next_mapped_;  // look at what it has mapped
  bool seen_mapped_ = false;                           // its region, by that name
  std::chrono::steady_clock::time_point last_own_;     // when it surely ran this image
  std::string thread_name_;  // of the process, when it was last seen to run this image
  std::vector<Unseen> unseen_;
  bool replaced_ = false;
  std::string replaced_by_;
  int64_t current_ = 0;
  uint64_t peak_ = 0;
};

}  // namespace memprof
