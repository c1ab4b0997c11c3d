#include "cli/supervisor/started_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "cli/preflight/inner_jemalloc_cache.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/processes/child_program.h"
#include "cli/supervisor/tree_finish.h"

namespace memprof {
namespace {

tl::unexpected<Refusal> Refused(std::string why, int status = kExitRefused) {
  return tl::unexpected<Refusal>(Refusal{status, std::move(why)});
}

// Nobody looks at their heaps.
TrackerOptions OfDescendants(TrackerOptions tracker) {
  tracker.look_at_exit = 0;
  return tracker;
}

// Returns null if descendants can't be followed, with a warning.
std::unique_ptr<ProcessTree> MakeTree(const StartedRunPlan& plan, const SupervisorOptions& named,
                                      const TrackerSocket& socket, pid_t program,
                                      InnerJemallocCache& jemallocs) {
  auto made = ProcessTree::Make({{named.output, named.overwrite, plan.children_files},
                                 OfDescendants(named.tracker),
                                 plan.filter,
                                 named.command_line,
                                 named.checkpoint,
                                 socket.path()},
                                program, jemallocs);
  if (made) return std::move(*made);
  Say("warning: child processes are not profiled: {}", made.error().message);
  return nullptr;
}

}  // namespace

tl::expected<StartedRunOutcome, Refusal> RunStarted(const StartedRunPlan& plan, Signals& signals,
                                                    TrackerSocket& socket, ControlSocket& control,
                                                    PrivateDirectory& directory) {
  auto child = Child::Fork(plan.child);
  if (!child) return Refused(child.error().message);
  RaiseOwnLimits();
  RaiseOwnDescriptorLimit();
  const auto named = plan.name_outputs(child->pid());
  if (!named) return Refused(named.error().message);
  auto region = named->region.empty() ? RegionFile::InMemory()
                                      : RegionFile::InFile(named->region, named->overwrite);
  if (!region) return Refused(region.error().message);
  InnerJemallocCache jemallocs;
  std::unique_ptr<ProcessTree> tree;
  if (plan.follow_fork) tree = MakeTree(plan, *named, socket, child->pid(), jemallocs);
  if (plan.wait) AdoptDescendants();
  ChildProgram program(child->pid());
  Supervisor supervisor(*named, signals, socket, control, jemallocs, program, std::move(*region),
                        tree.get());
  // If we are killed, what stands there must not be an earlier run's.
  if (named->overwrite) RemoveCapturesOf(named->output);
  if (const int error = child->Start(); error != 0) {
    if (!named->region.empty()) unlink(named->region.c_str());
    return Refused(fmt::format("{}: {}", plan.child.argv[0], strerror(error)),
                   error == ENOENT ? kExitNotFound : kExitCannotExecute);
  }
  if (plan.at_start) plan.at_start();
  StartedRunOutcome run;
  run.output = named->output;
  run.region = named->region;
  run.program = supervisor.Run();
  if (tree != nullptr) {
    run.descendants = FinishTree(
        {run.program.written ? &*run.program.written : nullptr, run.program.executed_captures,
         plan.wait, run.program.timed_out, plan.callers, plan.at_late_end},
        *tree, signals, socket, directory);
    // Those that the merge replaces are gone.
    std::erase_if(run.program.executed_captures,
                  [](const std::string& capture) { return access(capture.c_str(), F_OK) != 0; });
  }
  return run;
}

}  // namespace memprof
