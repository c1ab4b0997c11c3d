#include <fmt/format.h>

#include "cli/web/page.h"

namespace memprof {
namespace {

const char* StopReasonText(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return "";
    case StopReason::kNoMemory:
      return "it got no memory";
    case StopReason::kBadRegion:
      return "its region was not usable";
    case StopReason::kNoFindObject:
      return "the C library lacks what it needs";
  }
  return "for a reason that this version doesn't know";
}

}  // namespace

std::vector<std::string> PageWarnings(const Profile& profile) {
  const SnapshotTracker& tracker = profile.tracker;
  std::vector<std::string> warnings;
  if (tracker.stop_reason != 0) {
    warnings.push_back(
        fmt::format("The tracker stopped counting before the end: {}. What came after is missing.",
                    StopReasonText(static_cast<StopReason>(tracker.stop_reason))));
  }
  if (profile.program.end_kind == EndKind::kRunning) {
    warnings.push_back("The program was still running: leaked means live at that moment.");
  }
  if (tracker.inexact_read) {
    warnings.push_back(
        "Read while events went on: the rows may be off by what happened meanwhile.");
  }
  if (tracker.dropped_events != 0) {
    warnings.push_back(
        fmt::format("{} events were dropped and are in no figure.", tracker.dropped_events));
  }
  if (tracker.peak_bound_bytes != 0) {
    warnings.push_back(fmt::format("Rows at the peak may be off by up to {} bytes in all.",
                                   tracker.peak_bound_bytes));
  }
  if (tracker.unattributed_bytes != 0) {
    warnings.push_back(fmt::format("{} bytes of the peak could not be given to a row.",
                                   tracker.unattributed_bytes));
  }
  if (tracker.tables_full_events != 0) {
    warnings.push_back(
        fmt::format("{} allocations found the tables full: they are in the row [tables full].",
                    tracker.tables_full_events));
  }
  if (tracker.truncated_stacks != 0) {
    warnings.push_back(
        fmt::format("{} allocations had stacks deeper than {} frames: see [truncated].",
                    tracker.truncated_stacks, kMaxFrames));
  }
  if (tracker.incomplete_stacks != 0) {
    warnings.push_back(
        fmt::format("{} allocations came through code without unwind data: see [incomplete].",
                    tracker.incomplete_stacks));
  }
  if (tracker.fork_children != 0) {
    warnings.push_back(
        fmt::format("{} forked children are not in these figures.", tracker.fork_children));
  }
  return warnings;
}

}  // namespace memprof
