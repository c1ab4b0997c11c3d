// Image: one program that the profiled process runs, from its tracker's connection to its exec or
// end. It has the image's region, and the facts that only an observer outside can know.
//
// Thread safety: none. Failure: facts that /proc doesn't tell stay unknown.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/channels/shown_run.h"
#include "cli/supervisor/images/image_history.h"
#include "cli/supervisor/images/memory_watch.h"
#include "cli/supervisor/images/named_moment_taker.h"
#include "cli/supervisor/images/program_mark.h"
#include "cli/supervisor/images/region_file.h"
#include "core/protocol/region_layout.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

// How the image of a descendant differs from the program's own.
struct ImageOrigin {
  // the image that it was forked from, which ran the same program
  const SnapshotProgram* forked_from = nullptr;
  // set if the image started before now
  std::optional<std::chrono::steady_clock::time_point> start;
  uint64_t history_scale = 1;  // factor for the initial intervals of the history
  bool command_line = true;    // keep the command line in the capture
  // false: that the process runs this image is only a claim, so nothing is asked about the process
  bool is_there = true;
};

class Image {
 public:
  // `name` is the program's as the user gave it; empty: the executable's.
  Image(RegionFile region, pid_t pid, std::string name, const ImageOrigin& origin = {});

  RegionPlace region() const { return region_.place(); }
  const std::string& name() const { return program_.program; }
  const SnapshotProgram& program() const { return program_; }

  // Reads the heap's peak and the process's memory. False: nothing changed since the last call.
  bool Sample();

  // Follows the heap over time; call it when it is due.
  void LookAtHistory();
  std::chrono::steady_clock::time_point NextLook() const;
  // The history as of now. Pre: Describe(end, …) was called.
  RegionHistory History(EndKind end);

  // After this, no thread of ours reads the image until the next look.
  void Settle() {
    history_.Settle();
    memory_.Settle();
  }

  // The named moments; History() has them as well.
  NamedMomentTaker& named_moments() { return named_moments_; }
  const NamedMomentTaker& named_moments() const { return named_moments_; }
  std::chrono::steady_clock::time_point start() const { return start_; }
  uint64_t NowMs() const;
  // RSS; unset if the process is gone or runs another program.
  std::optional<uint64_t> ResidentBytes() const;

  // The heap's peak at the last Sample.
  uint64_t peak_bytes() const { return peak_; }

  // A tracker counts here, or has. (A tracker that got its region too late doesn't touch it.)
  bool Attached() const { return State() != TrackerState::kEmpty; }

  // True if the jemalloc inside the executable has no hooks, although its symbols promised them.
  bool JemallocRefused() const;

  // The newest answer about what holds its blocks; History() has it.
  void SetInspection(SnapshotInspection found) { inspection_ = std::move(found); }

  // The image as viewers are shown it.
  ShownProcess Shown() const { return {pid_, name(), program_.start_unix_ms, region()}; }

  // Why its stacks have no Python frames although it has an interpreter; empty: they have, or there
  // is none.
  std::string WhyWithoutPython() const;
  // Why its objects aren't counted one by one, though that was asked for; empty: no reason.
  std::string WhyWithoutPythonObjects(const Snapshot& written) const;

  // Adds something that is in no figure to its history, and so to its capture.
  void AddUnseen(const Unseen& unseen) { memprof::AddUnseen(unseen_, {unseen}); }
  // An allocator inside its executable (elf_facts.h); empty: none.
  void AddUnseenAllocator(const std::string& allocator) {
    if (!allocator.empty()) AddUnseen({Unseen::Kind::kAllocator, allocator, name(), 1});
  }

  // The process has executed another program, from which no tracker came.
  bool replaced() const { return replaced_; }
  // that program's name; empty: not known
  const std::string& replaced_by() const { return replaced_by_; }
  void MarkReplaced() { replaced_ = true; }
  // For a living process: checks whether it has executed another program.
  bool LookForExec();
  // For a process that exited and is not reaped yet: checks whether it exited as another program.
  // This is exact if the last Sample saw it. Otherwise it is inferred from a name that the tracker
  // doesn't know, together with an exit that the tracker didn't see.
  void LookForLateExec();

  // The facts about the program as of now. `end` is kRunning while it lives.
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
  NamedMomentTaker named_moments_;
  ProgramMark mark_;
  bool random_addresses_;
  std::chrono::steady_clock::time_point next_mapped_;  // when to look at its mappings next
  // its mappings, which had its region by that name, were seen
  bool seen_mapped_ = false;
  // the last time at which it surely ran this image
  std::chrono::steady_clock::time_point last_own_;
  std::string thread_name_;  // the process's name when it was last seen to run this image
  std::vector<Unseen> unseen_;
  SnapshotInspection inspection_;
  bool replaced_ = false;
  std::string replaced_by_;
  int64_t current_ = 0;
  uint64_t peak_ = 0;
};

}  // namespace memprof
