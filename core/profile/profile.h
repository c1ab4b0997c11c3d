// Profile: a snapshot with names. Inlined functions are frames of their own; every report, page
// and exporter starts from here.
//
// Invariants
//   1. nodes[0] is the root; every other node's parent has a smaller index.
//   2. One site per SnapshotSite, in the snapshot's order, with the same figures: rows sum to
//      totals because no report drops a site.
//   3. Every frame has a name. What could not be attributed has a bracketed one:
//      "[truncated]", "[tables full]", "[no stack]", "[incomplete]".
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/snapshot/moment_choice.h"
#include "core/snapshot/process_choice.h"
#include "core/snapshot/sampling.h"
#include "core/snapshot/snapshot.h"
#include "core/symbolizer/symbolizer.h"

namespace memprof {

struct ProfileFrame {
  std::string function;
  std::string file;             // empty: not known
  uint32_t line = 0;            // 0: not known
  uint32_t module = kNoModule;  // index into modules
  uint64_t offset = 0;          // of the return address; the same for all frames inlined there
  bool inlined = false;         // inlined into its caller (its parent node)
  friend bool operator==(const ProfileFrame&, const ProfileFrame&) = default;
};

struct ProfileNode {
  uint32_t parent = 0;
  uint32_t frame = 0;  // meaningless in the root
};

struct ProfileSite {
  uint32_t node = 0;  // the leaf: the function that called the allocator
  uint32_t thread_name = 0;
  Count peak;
  Count leaked;
  Count total;
  // Not null: kept by design by libc, libstdc++ or the loader, with the reason (a static string).
  // In the totals, not in leak verdicts: reports show these as one row kRuntimeRow.
  const char* runtime_reason = nullptr;
  FigureVariances variances = {};  // 0 of an exact profile
  uint32_t size_class = 0;         // likewise
  AllocatorKind kind = AllocatorKind::kUnknown;
  Count temporary = {};      // of total
  SizeHistogram sizes = {};  // of total; empty: not known
  LiveHistory history = {};  // live at the profile's moments
};

// What one source of a merge has in all, as far as it is kept apart.
struct ProfileProcess : Figures {  // of kApart: sums over its rows
  SnapshotProcess::Kind kind = SnapshotProcess::Kind::kUnknown;
};

inline constexpr char kRuntimeRow[] = "[runtime, kept by design]";

struct Profile : Figures {  // sums over sites
  SnapshotProgram program;
  SnapshotTracker tracker;
  std::vector<SnapshotModule> modules;
  std::vector<ProfileFrame> frames;
  std::vector<ProfileNode> nodes;
  std::vector<std::string> thread_names;
  std::vector<ProfileSite> sites;
  Timeline timeline;
  Moments moments;
  NamedSnapshots named;
  SnapshotMappings mappings;  // their nodes are this profile's
  MemoryRecord memory;
  std::vector<Unseen> unseen;
  std::vector<SnapshotSource> sources;    // of a merge; empty: it is none
  std::vector<ProfileProcess> processes;  // the sources'; empty: nothing is known of any
  // There: the figures called peak are what was live at this moment (ShowMoment).
  std::optional<ChosenMoment> chosen;
  // There: the profile is of these processes alone (ShowProcesses).
  std::optional<ChosenProcesses> chosen_processes;
  std::vector<std::string> notes;   // of the symbolizer: what was lacking, one line a module
  std::vector<std::string> damage;  // of the capture: what was lost of it, one line each
  FigureVariances variances;        // likewise
  SizeHistogram sizes;              // of total; what it lacks of it is not known (Untold)
};

Profile MakeProfile(const Snapshot& snapshot, Symbolizer& symbolizer);

// What of its leaks the runtime keeps by design.
Count SumKeptByRuntime(const Profile& profile);

}  // namespace memprof
