// Snapshot: everything that a capture holds, as plain values. The supervisor makes one from a
// region (RegionReader), the capture writer stores it, the capture reader restores it, and a
// profile is made of it.
//
// Invariants
//   1. nodes[0] is the root; every other node's parent has a smaller index.
//   2. sites refer to nodes, nodes to frames, frames to modules or Python functions, by index; all
//      are in range.
//   3. The sites' figures sum to the totals of the program: totals are derived (Sum…), never kept.
//   4. A site's history refers to moments by index, in range; `named` likewise to named moments.
//   5. The rows of the inspection refer to nodes by index, in range.
//   6. The rows of processes refer to sites by index, in range; `processes` is as long as
//      `sources`, or empty.
//
// A CanonicalSnapshot has its members in canonical order.
//
// Units: bytes are requested bytes, times are milliseconds. Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/count.h"
#include "core/protocol/allocator_kind.h"
#include "core/protocol/region_layout.h"
#include "core/snapshot/history.h"
#include "core/snapshot/inspection_record.h"
#include "core/snapshot/mappings.h"
#include "core/snapshot/memory_record.h"
#include "core/snapshot/process_rows.h"
#include "core/snapshot/python_function.h"
#include "core/snapshot/size_histogram.h"
#include "core/snapshot/unseen.h"

namespace memprof {

struct SnapshotModule {
  std::string path;      // as the loader has it; "[vdso]" for the kernel's
  std::string build_id;  // lower-case hexadecimal; empty: none
  friend bool operator==(const SnapshotModule&, const SnapshotModule&) = default;
};

// A return address. With a module, `offset` is the address in the file's own terms: a virtual
// address as in its symbol table (what addr2line takes, plus one instruction). Without one
// (kNoModule), it is a kPc… row of region_layout.h, a Python frame (python_function.h), or an
// absolute address of code that no file backs.
struct SnapshotFrame {
  uint32_t module = kNoModule;
  uint64_t offset = 0;
  friend bool operator==(const SnapshotFrame&, const SnapshotFrame&) = default;
};

inline bool IsPython(const SnapshotFrame& frame) {
  return frame.module == kNoModule && IsPythonOffset(frame.offset);
}

struct SnapshotNode {
  uint32_t parent = 0;
  uint32_t frame = 0;  // meaningless in the root
  friend bool operator==(const SnapshotNode&, const SnapshotNode&) = default;
};

struct SnapshotSite {
  uint32_t node = 0;  // the leaf: the innermost frame, the caller of malloc
  uint32_t thread_name = 0;
  Count peak;               // live when the program's heap was highest
  Count leaked;             // live at the end, or now
  Count total;              // ever allocated
  uint32_t size_class = 0;  // of its blocks while sampling (SizeClass); 0 in an exact snapshot
  AllocatorKind kind = AllocatorKind::kUnknown;
  Count temporary = {};      // of total: freed soon (SnapshotTracker::temporary_threshold)
  SizeHistogram sizes = {};  // of total; empty: not known
  LiveHistory history = {};  // live at the snapshot's moments
  LiveHistory named = {};    // live at its named moments
  // All of `leaked`, which isn't 0, was allocated by threads that still ran at the end.
  bool of_running_threads = false;
  friend bool operator==(const SnapshotSite&, const SnapshotSite&) = default;
};

enum class EndKind : uint8_t {
  kRunning,
  kExit,
  kSignal,
  kExec,
  kEnded,  // how it ended is not known
  kCut     // a checkpoint: the run goes on, or it was cut short and wrote no end
};
const char* NameOf(EndKind kind);  // The name in JSON and on the page.

// True if the program had not ended when the figures were read.
inline bool IsUnended(EndKind kind) { return kind == EndKind::kRunning || kind == EndKind::kCut; }

struct SnapshotProgram {
  std::string program;  // base name of the executable
  uint32_t pid = 0;
  std::vector<std::string> command;  // argv
  int64_t start_unix_ms = 0;
  uint64_t duration_ms = 0;  // 0: not known
  EndKind end_kind = EndKind::kRunning;
  uint32_t end_code = 0;  // exit status or signal number
  // after the start; not known if this and its resolution are 0
  uint64_t peak_time_ms = 0;
  uint64_t peak_time_resolution_ms = 0;  // of peak_time_ms
  uint64_t rss_peak_bytes = 0;           // VmHWM; 0: not known
  uint64_t run_id = 0;                   // random number of this run of this image; 0: not known
  friend bool operator==(const SnapshotProgram&, const SnapshotProgram&) = default;
};

// How far the figures can be trusted, and the overhead of taking them.
struct SnapshotTracker {
  uint64_t bytes = 0;  // resident bytes of all the tracker's mappings, region included
  uint64_t dropped_events = 0;
  uint64_t truncated_stacks = 0;
  uint64_t incomplete_stacks = 0;
  uint64_t tables_full_events = 0;
  uint64_t unknown_frees = 0;
  uint64_t unnamed_frames = 0;      // frames in files for which the table of modules had no room
  uint64_t unread_python = 0;       // allocations with Python frames that could not be read
  uint64_t counter_peak_bytes = 0;  // the peak according to the ordering word
  uint64_t peak_bound_bytes = 0;    // largest error of the rows at the peak; 0: exact
  uint64_t unattributed_bytes = 0;  // in the ordering word's peak but in no row
  uint32_t stop_reason = 0;         // StopReason: why the tracker gave up
  uint32_t fork_children = 0;       // forked children that were not counted
  uint64_t sample_bytes = 0;        // mean distance between samples; 0: figures are exact
  // A block is temporary if its thread frees it before making this many other allocations; 0: not
  // known which blocks were.
  uint32_t temporary_threshold = 0;
  uint64_t attached = 0;             // number of processes that a tracker was attached to
  uint64_t before_attach_frees = 0;  // in these: frees of blocks whose allocation it didn't see
  uint64_t before_attach_bytes = 0;  // … in the allocator's bytes; 0: it doesn't tell
  bool inexact_read = false;         // taken while the program ran and events raced the read
  friend bool operator==(const SnapshotTracker&, const SnapshotTracker&) = default;
};

// One of the captures that a merge sums: its program, and some figures of its own.
struct SnapshotSource {
  SnapshotProgram program;  // run_id is never 0
  Count peak;               // at its own time
  bool has_timeline = false;
  bool has_moments = false;
  friend bool operator==(const SnapshotSource&, const SnapshotSource&) = default;
};

// The order of sources. If neither of two sources is before the other, they are the same.
bool SourceBefore(const SnapshotSource& a, const SnapshotSource& b);

struct Snapshot {
  SnapshotProgram program;
  SnapshotTracker tracker;
  std::vector<SnapshotModule> modules;
  std::vector<SnapshotFrame> frames;
  std::vector<SnapshotNode> nodes;  // nodes[0]: the root
  std::vector<SnapshotPythonFunction> python;
  std::vector<std::string> thread_names;
  std::vector<SnapshotSite> sites;
  SizeHistogram other_sizes;  // sizes of the allocations of sites without a histogram
  Timeline timeline = {};
  Moments moments = {};
  NamedMoments named = {};
  SnapshotMappings mappings = {};               // what the program mapped itself
  MemoryRecord memory = {};                     // where its RSS was; unset in a merge
  SnapshotInspection inspection = {};           // unset in a merge
  std::vector<Unseen> unseen = {};              // what is in no figure, in AddUnseen's order
  std::vector<SnapshotSource> sources = {};     // of a merge, in order; empty: no merge
  std::vector<SnapshotProcess> processes = {};  // one for each source; empty: no process is known
  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Why a tracker gave up (SnapshotTracker::stop_reason), as the end of a sentence.
std::string WhyStopped(uint32_t stop_reason);

Count SumPeak(const Snapshot& snapshot);
Count SumLeaked(const Snapshot& snapshot);
Count SumTotal(const Snapshot& snapshot);
Count SumTemporary(const Snapshot& snapshot);
// The part of the leaks that threads allocated that still ran at the end.
Count SumOfRunningThreads(const Snapshot& snapshot);
// The sizes of the whole program: at most SumTotal, and less if some are unknown (Untold).
SizeHistogram SumSizes(const Snapshot& snapshot);

// Adds a site to one with the same place, thread, class and kind. If the sum's sizes are no longer
// known, the known ones go to `other_sizes` (Snapshot::other_sizes). The sum is of running threads
// only if all of its leaks are.
void AddSite(const SnapshotSite& site, SnapshotSite& merged, SizeHistogram& other_sizes);

}  // namespace memprof
