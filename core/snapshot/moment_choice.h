// MomentChoice: selects the moment of a capture that a report shows instead of the peak: FILE@90s.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/snapshot/snapshot.h"

namespace memprof {

struct MomentSelector {
  enum class Kind { kPeak, kEnd, kTime, kNamed };
  Kind kind = Kind::kPeak;
  uint64_t time_ms = 0;   // for kTime: after the start
  std::string text = {};  // as written; a named moment of this name takes precedence
};

// Reads "peak", "end", "90s", "10m", "1h30m", "1.5h", "250ms", "2d". Any other text is kNamed; an
// empty one is kUsage.
Result<MomentSelector> ParseMoment(std::string_view text);

// The moment that was selected.
struct ChosenMoment {
  MomentSelector::Kind kind = MomentSelector::Kind::kPeak;
  uint64_t time_ms = 0;  // after the start
  bool inexact = false;  // for kTime and kNamed: events raced the reading
  std::string name;      // "the peak", "the end", "9 min 58 s", "the snapshot 'warm' (2 s)"
  std::string note;      // ", the nearest of 120 moments, one every 8.2 s"; empty: nothing to say
};

// Replaces the peak of the sites, and the snapshot's facts about its peak, by what was live at the
// named moment, or at the kept moment nearest to the selector's (the end is one of them).
// Failure: kUsage if there is no such name or no moment; the message lists what there is.
Result<ChosenMoment> ShowMoment(Snapshot& snapshot, const MomentSelector& selector);

}  // namespace memprof
