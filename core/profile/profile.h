// Profile: a snapshot with names. Inlined functions are frames of their own. Every report, page and
// exporter starts from a profile.
//
// Invariants
//   1. nodes[0] is the root; every other node's parent has a smaller index.
//   2. There is one site per SnapshotSite, in the snapshot's order, with the same figures. Rows sum
//      to totals because no report drops a site.
//   3. Every frame has a name. Figures that could not be attributed have a bracketed one:
//      "[truncated]", "[tables full]", "[no stack]", "[incomplete]".
//
// In stacks with Python frames the interpreter's own frames are left out, unless they are asked for:
// a Python function then calls the code of an extension, or is what allocated.
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
  uint64_t offset = 0;          // of the return address; the same for all functions inlined there
  bool inlined = false;         // inlined into its caller (its parent node)
  bool python = false;          // a Python function; its module is its source file
  // Code of a Python interpreter in a stack that has Python frames, which stand for it.
  bool stands_behind = false;
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
  // The reason (a static string) why libc, libstdc++ or the loader keeps the blocks by design; null
  // if they don't. Such sites are in the totals, but in no verdict on leaks: reports show them as
  // one row, kRuntimeRow.
  const char* runtime_reason = nullptr;
  FigureVariances variances = {};  // 0 of an exact profile
  uint32_t size_class = 0;         // of the blocks while sampling; 0 in an exact profile
  AllocatorKind kind = AllocatorKind::kUnknown;
  Count temporary = {};      // of total
  SizeHistogram sizes = {};  // of total; empty: not known
  LiveHistory history = {};  // live bytes at the profile's moments
  // All of `leaked`, which isn't 0, was allocated by threads that still ran at the end, and isn't
  // kept by design.
  bool of_running_threads = false;
};

// The figures of one source of a merge, if its rows are kept apart.
struct ProfileProcess : Figures {  // for kApart: sums over its rows
  SnapshotProcess::Kind kind = SnapshotProcess::Kind::kUnknown;
  std::vector<ProcessRow> rows = {};  // for kApart: of the profile's sites
};

inline constexpr char kRuntimeRow[] = "[runtime, kept by design]";

// What a Python interpreter mapped for small objects, a pool at a time; its objects are in no other
// figure. 0 if they were counted instead, one by one.
struct PythonArenas {
  Count peak;    // when the program had mapped most
  Count leaked;  // at the end, or now
};

struct Profile : Figures {  // sums over sites
  SnapshotProgram program;
  SnapshotTracker tracker;
  std::vector<SnapshotModule> modules;  // the source files of Python frames follow the others
  std::vector<ProfileFrame> frames;
  std::vector<ProfileNode> nodes;
  std::vector<std::string> thread_names;
  std::vector<ProfileSite> sites;
  Timeline timeline;
  Moments moments;
  NamedMoments named;
  SnapshotMappings mappings;  // their nodes are indices into this profile's
  PythonArenas python_arenas = {};
  MemoryRecord memory;
  SnapshotInspection inspection = {};  // its rows' nodes are indices into this profile's
  std::vector<Unseen> unseen;
  std::vector<SnapshotSource> sources;    // of a merge; empty: the profile is no merge
  std::vector<ProfileProcess> processes;  // one for each source; empty: no process is known
  // If set: the figures called peak are what was live at this moment (ShowMoment).
  std::optional<ChosenMoment> chosen;
  // If set: the profile has only these processes (ShowProcesses).
  std::optional<ChosenProcesses> chosen_processes;
  std::vector<std::string> notes;   // from the symbolizer: what was missing, one line a module
  std::vector<std::string> damage;  // of the capture: what was lost, one line each
  FigureVariances variances;        // the variances of the sums
  SizeHistogram sizes;              // of total; sizes that are missing in it are unknown (Untold)
};

struct ProfileOptions {
  // Also the interpreter's own frames in stacks that have Python frames.
  bool native_frames = false;
};

// Move the snapshot in to avoid a copy. Pre: invariants 1 and 2 of Snapshot.
Profile MakeProfile(Snapshot snapshot, Symbolizer& symbolizer, const ProfileOptions& options = {});

// How a frame is called in data: "python", "interpreter", "program", "system" or "row".
const char* KindName(const Profile& profile, const ProfileFrame& frame);

// The part of the leaks that the runtime keeps by design.
Count SumKeptByRuntime(const Profile& profile);

// The part of the leaks that threads allocated that still ran at the end.
Count SumOfRunningThreads(const Profile& profile);

}  // namespace memprof
