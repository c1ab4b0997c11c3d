// Growth: judges from a site's history (core/snapshot/history.h) whether its live bytes grow: a
// leak, a cache that fills and levels off, a pool that swings, or undecided.
//
//   live      ┌ warm-up ┐
//                         . · '        kGrows       rises after the warm-up, is not slowing down,
//             .   . · '                             and its floor rises with it
//             ──────────────────
//                . · ─────────────     kLevelsOff   rose, and has stood still since, or nearly
//             . '
//             /\/\/\/\/\/\/\/\/\/      kSteady      swings, or falls, or moves less than the noise
//                                      kUndecided   `reason` says why
//
//   1. Warm-up: the beginning is left out so that a straight line fits the rest best. The rule is
//      that of the marginal standard error (White 1997), with a line in place of the mean. At most
//      half of the series is left out, or three quarters if it rises faster after than before.
//   2. Trend of the rest (core/profile/trend.h): Theil and Sen's slope, Mann and Kendall's test,
//      corrected for autocorrelation. Thousands of sites are judged at once, so the level is
//      divided by `judged` (Bonferroni). Among programs without a trend few then have any site that
//      seems to grow. `judged` counts only the sites that move by more than the floor. The floor
//      doesn't depend on their trend (Bourgon, Gentleman & Huber 2010).
//   3. Floor: the lowest value of the last third must exceed that of the first third by half of
//      what the slope predicts, and the end must lie above what was live before the warm-up. Leaked
//      memory never comes back; memory that swings or bursts does.
//   4. Levelling off: compares the slope of the later half of the rest with that of the earlier
//      half. A bounded store slows down as it fills, like 1 − e^(−t/τ) or at once; a leak goes on.
//      A ratio of 1/2 separates the two, allowing for the slopes' errors. Unclear cases are
//      compared with the warm-up.
//      What slows down all through the run is tested over the whole series: a cache of distinct keys
//      looks straight in its last part. If no block comes, each of them grows to a size of its own,
//      such as that of its largest record; then a slowing by itself is enough.
//   5. Shapes that a line doesn't describe:
//      - a container of one block that grows by a factor at each step, in the rhythm of elements
//        that are added, grows until its next step is overdue;
//      - of a swing the lowest value of each few moments is judged, so that a residue is seen;
//      - a series that never falls has no noise: half of the floor is enough, in enough steps;
//      - one step that makes up most of a rise is no trend;
//      - fewer than eight blocks that come and go are noise;
//      - the last moment isn't judged if it fell into the tear-down: less than half is live of what
//        was live at least, shortly before.
//   6. Estimates (run --sample): the rise of the later half must exceed three times its error. The
//      error is wider for memory that comes and goes, since other blocks are sampled in its place.
//
// Thread safety: pure. Cost: about a millisecond for 128 moments; next to nothing for a site that
// moves by less than the floor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/snapshot/history.h"

namespace memprof {

enum class GrowthVerdict { kGrows, kLevelsOff, kSteady, kUndecided };

// "grows", "levels off", "steady", "undecided".
const char* VerdictName(GrowthVerdict verdict);

inline constexpr size_t kFewestGrowthMoments = 24;
inline constexpr double kGrowthLevel = 0.005;

struct GrowthOptions {
  double floor_bytes = 4096;  // a site that moves by less over the whole run is steady
  // the number of sites that are judged at once and exceed the floor
  size_t judged = 1;
  double standard_error_bytes = 0;  // of the live bytes at the end, if they are estimated
};

struct Growth {
  GrowthVerdict verdict = GrowthVerdict::kUndecided;
  const char* reason = "";  // a clause: "rises and falls back"
  // false: the next four are unset, the series is too short or too small
  bool has_trend = false;
  double bytes_per_hour = 0;  // after the warm-up
  double low = 0, high = 0;   // its confidence interval, 95 %; for estimates with their error
  double p_value = 1;         // of the trend: how likely a site without a trend rises like that
  size_t warm_up = 0;         // the first moment that was judged
  uint64_t warm_up_ms = 0;    // its time
  uint64_t span_ms = 0;       // from the first judged moment to the last
  // How long the live bytes have not been below half of what they are at the last moment.
  uint64_t held_ms = 0;
};

// Judges a series. `times_ms` are after the start, ascending, and as many as `live_bytes`.
// `live_blocks` are the live allocations at the same times; empty: not known.
Growth JudgeGrowth(std::span<const uint64_t> times_ms, std::span<const uint64_t> live_bytes,
                   const GrowthOptions& options, std::span<const uint64_t> live_blocks = {});

// The history's live bytes and allocations at each of the first `moments` moments.
std::vector<uint64_t> LiveBytesOf(const LiveHistory& history, size_t moments);
std::vector<uint64_t> LiveBlocksOf(const LiveHistory& history, size_t moments);
std::vector<uint64_t> TimesOf(const Moments& moments);

// The noise floor for the sites of a program with so many live bytes. A smaller movement is not
// worth a row.
double GrowthFloor(uint64_t program_bytes);
// True if a site moves by more than the floor, so that it counts in GrowthOptions::judged.
bool ExceedsFloor(std::span<const uint64_t> live_bytes, double floor_bytes);

}  // namespace memprof
