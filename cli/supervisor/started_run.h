// StartedRun: starts a program, and supervises it until it has ended and its descendants are
// finished (tree_finish.h).
//
//   fork ─► names of the outputs ─► region, tree of descendants ─► exec ─► Supervisor ─► FinishTree
//
// Thread safety: one a process, one thread.
// Failure: a Refusal; the program was not executed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/preflight/preflight.h"
#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/processes/child.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/supervisor.h"
#include "cli/supervisor/tree/process_tree.h"
#include "cli/supervisor/tree/program_filter.h"

namespace memprof {

struct StartedRunPlan {
  ChildPlan child;
  // Called when the pid is known. An error prevents the start.
  std::function<Result<SupervisorOptions>(pid_t)> name_outputs;
  std::function<void()> at_start;  // called when the program executes; may be empty
  bool follow_fork = true;         // profile descendants
  bool wait = false;               // stay until all descendants have ended
  ProgramFilter filter;            // of descendants
  size_t children_files = 0;       // captures of children and earlier images to leave
  std::vector<int> callers;        // open descriptors that aren't ours: OpenDescriptors
  // If descendants outlive the program, the background process calls this at its end. May be empty.
  std::function<void(const TreeOutcome&)> at_late_end;
};

struct StartedRunOutcome {
  RunOutcome program;
  TreeOutcome descendants;
  std::string output;  // the program's capture
  std::string region;  // its region's file; empty: in memory
};

tl::expected<StartedRunOutcome, Refusal> RunStarted(const StartedRunPlan& plan, Signals& signals,
                                                    TrackerSocket& socket, ControlSocket& control,
                                                    PrivateDirectory& directory);

}  // namespace memprof
