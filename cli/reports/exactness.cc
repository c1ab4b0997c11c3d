#include "cli/reports/exactness.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>

#include "cli/basics/message.h"
#include "core/units.h"

namespace memprof {

std::vector<std::string> ExactnessNotes(const Profile& profile) {
  const SnapshotTracker& tracker = profile.tracker;
  std::vector<std::string> lines;
  auto say = [&](uint64_t count, const char* what) {
    if (count != 0) lines.push_back(fmt::format("{} {}", FormatCount(count), what));
  };
  if (tracker.stop_reason != 0) {
    lines.push_back(
        fmt::format("the tracker gave up, figures end there: {}", WhyStopped(tracker.stop_reason)));
  }
  say(tracker.dropped_events, "events could not be counted: they are in no figure");
  say(tracker.tables_full_events,
      "allocations found the tables full: they are in the row [tables full]");
  say(tracker.unnamed_frames,
      "frames are in files that the table of modules had no room for: they have no names");
  say(tracker.unread_python,
      "allocations have stacks without Python functions, which could not be read there");
  say(tracker.truncated_stacks,
      "allocations had stacks deeper than 512 frames: their outer frames are [truncated]");
  if (tracker.inexact_read) {
    lines.push_back("read while the program ran: rows may be off by the events meanwhile");
  }
  if (tracker.peak_bound_bytes != 0) {
    lines.push_back(
        fmt::format("the peak{} is known to within {}",
                    tracker.sample_bytes == 0 ? "" : " of the estimates, beside their error,",
                    FormatBytesExact(tracker.peak_bound_bytes)));
  }
  if (tracker.unattributed_bytes != 0) {
    lines.push_back(
        fmt::format("{} of the peak are in no row", FormatBytesExact(tracker.unattributed_bytes)));
  }
  if (tracker.attached != 0) {
    lines.push_back(fmt::format(
        "attached when the program ran: [allocated before attach] is in no figure, and since then "
        "{} in {} of that were freed",
        FormatBytes(tracker.before_attach_bytes),
        FormatCountOf(tracker.before_attach_frees, "block")));
  }
  if (tracker.fork_children != 0) {
    lines.push_back(fmt::format(
        "{} not counted", tracker.fork_children == 1
                              ? "1 forked child was"
                              : FormatCount(tracker.fork_children) + " forked children were"));
  }
  for (std::string& line : UnseenLines(profile.unseen)) lines.push_back(std::move(line));
  if (const auto& chosen = profile.chosen_processes; chosen && chosen->figures_only) {
    for (std::string& line : lines) {
      line = "not by process: " + line;
    }
  }
  if (std::string cut = CutText(profile); !cut.empty()) lines.insert(lines.begin(), std::move(cut));
  lines.insert(lines.begin(), profile.damage.begin(), profile.damage.end());
  say(profile.named.left_out, "named snapshots are not kept");
  if (!profile.sources.empty()) {
    const auto lacks = [&](bool SnapshotSource::*has) {
      return static_cast<uint64_t>(std::count_if(profile.sources.begin(), profile.sources.end(),
                                                 [&](const auto& s) { return !(s.*has); }));
    };
    const auto say_left_out = [&](uint64_t count, const char* what, const char* from) {
      if (count == 0) return;
      lines.push_back(fmt::format("{} of the merged captures {} no {}: {} not in {}",
                                  FormatCount(count), count == 1 ? "has" : "have", what,
                                  count == 1 ? "it is" : "they are", from));
    };
    lines.push_back(
        fmt::format("the peak is the sum of {} peaks, each at a time of its own: an upper bound",
                    profile.sources.size()));
    if (!profile.timeline.points.empty() || !IsOfFiguresOnly(profile)) {
      say_left_out(lacks(&SnapshotSource::has_timeline), "timeline", "the heap over time");
    }
    if (!profile.moments.at.empty() || !IsOfFiguresOnly(profile)) {
      say_left_out(lacks(&SnapshotSource::has_moments), "history", "the moments");
    }
  }
  return lines;
}

bool IsOfFiguresOnly(const Profile& profile) {
  return profile.chosen_processes && profile.chosen_processes->figures_only;
}

std::vector<std::string> ProcessLines(const Profile& profile) {
  const auto& chosen = profile.chosen_processes;
  if (!chosen || (chosen->shown == chosen->all && chosen->without_rows == 0)) return {};
  std::vector<std::string> lines = {fmt::format(
      "{} of {}, by --process {}{}", FormatCount(chosen->shown), FormatCount(chosen->all),
      chosen->patterns, chosen->shown == 1 ? "" : "; peaks are summed, each at a time of its own")};
  if (chosen->without_rows != 0) {
    lines.push_back(fmt::format(
        "{} more that it names {} not in these figures: {}; their peaks are {} together",
        FormatCount(chosen->without_rows), chosen->without_rows == 1 ? "is" : "are",
        chosen->unknown == 0
            ? "a merge has only the heaviest apart, and sums the others"
            : "a merge has only the heaviest apart, or doesn't know whose its figures are",
        FormatBytes(chosen->without_rows_peak.bytes)));
  }
  if (chosen->figures_only) {
    lines.push_back("sizes, mappings and what was over time are of the whole merge: left out");
  }
  return lines;
}

std::string ProcessHead(const Profile& profile, const TextStyle& style) {
  std::string text;
  for (const std::string& line : ProcessLines(profile)) {
    const std::string head = text.empty() ? "processes: " : "note: ";
    text += head + Wrapped(Printable(line), head.size(), style.width);
  }
  return text + CutHead(profile, style);
}

std::string CutHead(const Profile& profile, const TextStyle& style) {
  const std::string cut = CutText(profile);
  constexpr std::string_view kHead = "note: ";
  return cut.empty() ? cut : std::string(kHead) + Wrapped(cut, kHead.size(), style.width);
}

std::string SamplingHead(const Profile& profile, const TextStyle& style) {
  if (profile.tracker.sample_bytes == 0) return {};
  constexpr std::string_view kHead = "sampled: ";
  return std::string(kHead) +
         Wrapped(SamplingText(profile.tracker.sample_bytes), kHead.size(), style.width) + "\n";
}

std::string MomentHead(const Profile& profile, const TextStyle& style) {
  if (!profile.chosen) return {};
  return Wrapped("Live at " + profile.chosen->name + profile.chosen->note, 0, style.width) + "\n";
}

void SayChosen(const Profile& profile) {
  for (const std::string& line : ProcessLines(profile)) Say("processes: {}", Printable(line));
  if (profile.chosen) Say("live at {}{}", profile.chosen->name, profile.chosen->note);
  SayCut(profile);
}

void SayCut(const Profile& profile) {
  if (const std::string cut = CutText(profile); !cut.empty()) Say("note: {}", cut);
}

std::string EndText(const SnapshotProgram& program) {
  switch (program.end_kind) {
    case EndKind::kExit:
      return fmt::format("exited with {}", program.end_code);
    case EndKind::kSignal: {
      const char* name = sigabbrev_np(static_cast<int>(program.end_code));
      if (name == nullptr) return fmt::format("was ended by signal {}", program.end_code);
      return fmt::format("was ended by SIG{} ({})", name, program.end_code);
    }
    case EndKind::kExec:
      return "executed another program";
    case EndKind::kEnded:
      return "ended, exit status not known";
    case EndKind::kCut:
      return "had not ended at its last checkpoint";
    case EndKind::kRunning:
      break;
  }
  return "was still running";
}

std::string RunText(const SnapshotProgram& program) {
  if (program.duration_ms == 0) return EndText(program);
  const std::string after = " after " + FormatDuration(program.duration_ms);
  if (program.end_kind == EndKind::kEnded) return "ended" + after + ", exit status not known";
  return EndText(program) + after;
}

std::string CutText(const Profile& profile) {
  uint64_t cut = 0, duration_ms = 0;
  const auto look = [&](const SnapshotProgram& program) {
    if (program.end_kind != EndKind::kCut) return;
    ++cut;
    duration_ms = std::max(duration_ms, program.duration_ms);
  };
  for (const SnapshotSource& source : profile.sources) look(source.program);
  if (cut != 0) {
    return fmt::format(
        "{} of the {} captures merged {} an end: they were cut short, or still "
        "ran; their figures are those of a checkpoint",
        FormatCount(cut), FormatCount(profile.sources.size()), cut == 1 ? "lacks" : "lack");
  }
  look(profile.program);
  if (cut == 0) return {};
  return fmt::format(
      "the capture has no end: the run was cut short, or goes on; the figures are "
      "those of the last checkpoint{}",
      duration_ms == 0 ? "" : ", after " + FormatDuration(duration_ms));
}

bool CountedInFile(const Profile& profile) {
  const uint64_t rss_peak_bytes = profile.program.rss_peak_bytes;
  return rss_peak_bytes != 0 && profile.tracker.bytes >= rss_peak_bytes;
}

bool IsRunKnown(const SnapshotProgram& program) { return program.pid != 0; }

}  // namespace memprof
