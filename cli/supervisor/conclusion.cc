#include "cli/supervisor/conclusion.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "cli/basics/exit_status.h"
#include "core/profile/runtime_leaks.h"
#include "core/snapshot/sampling.h"
#include "core/units.h"

namespace memprof {
namespace {

std::string Allocations(uint64_t n) { return FormatCountOf(n, "allocation"); }

// True if the tracker stopped before it counted anything.
bool NothingCounted(const Snapshot& snapshot) {
  return snapshot.tracker.stop_reason != 0 && SumTotal(snapshot).allocations == 0;
}

// Why there is no capture; empty: there is one.
std::string WhyNoCapture(const RunOutcome& outcome, const std::string& region) {
  if (!outcome.write_error.empty()) {
    std::string why = "the capture could not be written: " + outcome.write_error;
    if (!region.empty()) {
      why += fmt::format("; the counts are still in {}: memprof summary {}", region,
                         ShellWord(region));
    } else if (outcome.checkpoints > 0) {
      why += "; what stands there is the last checkpoint";
    }
    return why;
  }
  if (outcome.written && NothingCounted(*outcome.written)) {
    return "nothing was counted: the tracker gave up: " +
           WhyStopped(outcome.written->tracker.stop_reason);
  }
  if (outcome.written || outcome.left_out) return {};
  if (outcome.late_trackers > 0) {
    return "no capture: the program's tracker gave up waiting for memprof (was it stopped, or the "
           "machine busy?), or had no memory or no descriptor left (ulimit -n); the "
           "program ran without it";
  }
  if (outcome.filtered) {
    return "no capture: no tracker connected. The program was started behind a filter of system "
           "calls (seccomp) that memprof itself doesn't have and that might kill it for a call of "
           "the tracker's: start memprof behind the same filter, or the program without it";
  }
  return "no capture: no tracker connected. The program drops LD_PRELOAD from its environment, is "
         "not run by the system's loader, or ended while it was loaded; try memprof doctor "
         "PROGRAM. If it runs well without memprof, memprof's preload may be at fault: please "
         "report it";
}

std::string FiguresText(const RunOutcome& outcome, const std::string& output,
                        uint64_t output_bytes) {
  const Snapshot& snapshot = *outcome.written;
  const Count peak = SumPeak(snapshot);
  const Count leaked = SumLeaked(snapshot);
  const std::string kept =
      LeakClassesText(leaked, outcome.leak_classes, snapshot.tracker.sample_bytes != 0);
  if (const uint64_t sample_bytes = snapshot.tracker.sample_bytes; sample_bytes != 0) {
    const FigureVariances variances = SumVariances(snapshot);
    return fmt::format(
        "sampled, one block per {}: peak ≈ {}, leaked ≈ {}{}, ≈ {} allocations in all; capture {} "
        "({}); see: memprof summary {}",
        FormatBytes(sample_bytes),
        FormatBytesWithError(peak.bytes, StandardError(variances.peak).bytes),
        FormatBytesWithError(leaked.bytes, StandardError(variances.leaked).bytes), kept,
        FormatCountWithError(SumTotal(snapshot).allocations,
                             StandardError(variances.total).allocations),
        output, FormatBytes(output_bytes), ShellWord(output));
  }
  return fmt::format(
      "peak {}, leaked {} in {}{}, {} in all; capture {} ({}); see: memprof summary {}",
      FormatBytes(peak.bytes), FormatBytes(leaked.bytes), Allocations(leaked.allocations), kept,
      Allocations(SumTotal(snapshot).allocations), output, FormatBytes(output_bytes),
      ShellWord(output));
}

void AddTrouble(const RunOutcome& outcome, std::vector<std::string>& lines) {
  const SnapshotTracker& tracker = outcome.written->tracker;
  if (tracker.stop_reason != 0) {
    lines.push_back("the figures end early: the tracker gave up: " +
                    WhyStopped(tracker.stop_reason));
  }
  if (tracker.dropped_events != 0) {
    lines.push_back(
        fmt::format("{} events could not be counted", FormatCount(tracker.dropped_events)));
  }
  if (outcome.jemalloc_refused) {
    lines.push_back(
        "the jemalloc inside the program refused our hooks: what it allocated was not "
        "seen");
  }
  if (!outcome.without_python.empty()) lines.push_back(outcome.without_python);
  if (!outcome.without_python_objects.empty()) lines.push_back(outcome.without_python_objects);
  if (outcome.executed_without_capture > 0) {
    lines.push_back(fmt::format("of {} earlier images of the program {} have no capture",
                                FormatCount(static_cast<uint64_t>(outcome.executed_images)),
                                outcome.executed_without_capture));
  }
  if (!outcome.untracked_image.empty()) {
    lines.push_back(fmt::format(
        "the capture ends where {} executed another program, {}", outcome.untracked_image,
        outcome.late_trackers > 0 ? "whose tracker gave up waiting for memprof"
        : outcome.filtered        ? "which is behind a filter of system calls (seccomp) that might "
                                    "kill it for a call of the tracker's"
                                  : "from which no tracker connected"));
  }
  const uint64_t children = static_cast<uint64_t>(outcome.descendants) + tracker.fork_children;
  if (children > 0) {
    lines.push_back(
        fmt::format("child processes are not profiled ({} seen)", FormatCount(children)));
  }
}

void AddInspection(const RunOutcome& outcome, const std::string& output,
                   std::vector<std::string>& lines) {
  const SnapshotInspection& inspection = outcome.written->inspection;
  if (!outcome.not_inspected.empty()) {
    lines.push_back("its heap was not inspected at the end: " + outcome.not_inspected);
  }
  if (inspection.looks == 0) return;
  const HeldFigures sum = SumOf(inspection);
  lines.push_back(fmt::format(
      "inspected after {}: {} in {} {} lost for good, of {} live; see: memprof inspect {}",
      FormatDuration(inspection.time_ms), FormatBytes(sum.lost().bytes),
      FormatCountOf(sum.lost().allocations, "block"), sum.lost().allocations == 1 ? "is" : "are",
      FormatBytes(sum.live().bytes), ShellWord(output)));
}

std::string TimeoutText(const RunOutcome& outcome) {
  return fmt::format("--timeout ended the program{}; exit status {}",
                     outcome.signalled && outcome.code == SIGKILL ? " with SIGKILL" : "",
                     kExitTimedOut);
}

}  // namespace

void FindKeptByRuntime(RunOutcome& outcome) {
  if (!outcome.written) return;
  SymbolizerOptions options;
  options.download_limit = {};
  const auto symbolizer = MakeSymbolizer(options);
  outcome.leak_classes = ClassifyLeaks(*outcome.written, *symbolizer);
}

Conclusion Conclude(const RunOutcome& outcome, const std::string& output, uint64_t output_bytes,
                    const std::string& region, bool quiet) {
  Conclusion conclusion;
  conclusion.status = outcome.signalled ? kExitSignalBase + outcome.code : outcome.code;
  if (!quiet && outcome.signalled && !outcome.timed_out) {
    const char* name = sigabbrev_np(outcome.code);
    conclusion.lines.push_back(
        name != nullptr ? fmt::format("the program was ended by SIG{}", name)
                        : fmt::format("the program was ended by signal {}", outcome.code));
  }
  const std::string why = WhyNoCapture(outcome, region);
  conclusion.has_capture = why.empty() && outcome.written.has_value();
  if (outcome.timed_out) conclusion.status = kExitTimedOut;
  if (!why.empty()) {
    if (conclusion.status == 0) conclusion.status = kExitRefused;
    conclusion.lines.push_back(why);
  } else if (!quiet) {
    if (outcome.written) {
      AddTrouble(outcome, conclusion.lines);
      AddInspection(outcome, output, conclusion.lines);
      conclusion.lines.push_back(FiguresText(outcome, output, output_bytes));
    } else {
      conclusion.lines.push_back("the program itself is left out by --only or --skip");
    }
  }
  if (outcome.timed_out) conclusion.last_line = TimeoutText(outcome);
  return conclusion;
}

}  // namespace memprof
