#include "cli/commands/options/inspection_options.h"

#include <fmt/format.h>

#include <chrono>
#include <csignal>

#include "cli/basics/proc_files.h"
#include "cli/commands/options/named_moment_options.h"
#include "cli/inspect/heap_inspection.h"
#include "core/snapshot/history.h"

namespace memprof {
namespace {

Result<SnapshotInspection> InspectRunning(const ShownProcess& process, bool at_exit) {
  HeapInspectionOptions how;
  how.longest_pause = std::chrono::milliseconds::max();
  // Its only thread waits: nothing moves, and no copy is needed.
  if (at_exit && ThreadsInProc(process.pid).size() == 1) {
    how.looks = 1;
    how.how = FrozenBy::kStopping;
  }
  auto inspection = InspectHeap(process, how);
  if (!inspection) return tl::unexpected<Error>(inspection.error());
  return std::move(inspection->found);
}

}  // namespace

Result<RunInspectionOptions> ReadInspectionFlags(const InspectionFlags& flags) {
  RunInspectionOptions options;
  options.at_exit = flags.at_exit;
  for (const std::string& at : flags.at) {
    if (at == "peak-rss") {
      options.at_peak_rss = true;
    } else if (const int number = SignalNumber(at); number != 0) {
      if (number == SIGKILL || number == SIGSTOP || number == SIGCHLD) {
        return Fail(
            ErrorKind::kUsage,
            fmt::format("--inspect-at {}: this signal can't be taken; write e.g. USR2", at));
      }
      if (options.signal != 0 && options.signal != number) {
        return Fail(ErrorKind::kUsage, "--inspect-at takes one signal");
      }
      options.signal = number;
    } else if (IsMomentName(at)) {
      options.names.push_back(at);
    } else {
      return Fail(
          ErrorKind::kUsage,
          fmt::format("--inspect-at '{}': write peak-rss, a signal as USR2, or the name of a "
                      "snapshot",
                      at));
    }
  }
  if (flags.at_exit || !flags.at.empty()) options.inspect = InspectRunning;
  return options;
}

void AddInspectionOptions(Arguments& arguments, InspectionFlags& flags) {
  arguments.AddFlag(
      "--inspect-at-exit", flags.at_exit,
      "Before its exit handlers run, find out which live blocks the program has lost, "
      "and what holds the others (memprof inspect); it waits for that");
  arguments
      .Add("--inspect-at", flags.at,
           "Do so while it runs: peak-rss, whenever its memory is a quarter above the last time; "
           "SIGNAL, sent to memprof; or NAME, when a snapshot of that name is taken. Repeatable; "
           "the capture keeps the last answer")
      .TypeName("WHEN")
      .OneValueEach();
}

}  // namespace memprof
