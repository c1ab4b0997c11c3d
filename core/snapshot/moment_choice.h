// MomentChoice: which moment of a capture a report is to show instead of the peak: FILE@90s.
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
  uint64_t time_ms = 0;   // of kTime: after the start
  std::string text = {};  // as written: a named snapshot of this name comes before all else
};

// "peak", "end", "90s", "10m", "1h30m", "1.5h", "250ms", "2d"; anything else is kNamed, but nothing
// is kUsage.
Result<MomentSelector> ParseMoment(std::string_view text);

// What was taken.
struct ChosenMoment {
  MomentSelector::Kind kind = MomentSelector::Kind::kPeak;
  uint64_t time_ms = 0;  // after the start
  bool inexact = false;  // of kTime and kNamed: events raced the reading of it
  std::string name;      // "the peak", "the end", "9 min 58 s", "the snapshot 'warm' (2 s)"
  std::string note;      // ", the nearest of 120 moments, one every 8.2 s"; empty: nothing to say
};

// Replaces the sites' peak by what was live at the named snapshot, or at the moment that is kept
// nearest to the selector's, the end included, and what the snapshot says about its peak likewise.
// kUsage: it has no such name, or no moments; the message lists what there is.
Result<ChosenMoment> ShowMoment(Snapshot& snapshot, const MomentSelector& selector);

}  // namespace memprof
