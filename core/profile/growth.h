// Growth: whether what is live of one place grows, judged by its history (core/snapshot/history.h):
// a leak, a cache that fills and levels off, a pool that swings, or nothing that the data can tell.
//
//   live      ┌ warm-up ┐
//                         . · '        kGrows       rises after the warm-up, is not slowing down,
//             .   . · '                             and its floor rises with it
//             ──────────────────
//                . · ─────────────     kLevelsOff   rose, and stands still since, or nearly
//             . '
//             /\/\/\/\/\/\/\/\/\/      kSteady      swings, or falls, or moves less than the noise
//                                      kUndecided   `reason` says why
//
//   1. Warm-up: the beginning that is left out so that a straight line fits the rest best, by the
//      marginal standard error rule (White 1997), with a line in the place of the mean. At most
//      half of the series, or three quarters if it rises faster after than before.
//   2. Trend of the rest (core/profile/trend.h): Theil and Sen's slope, Mann and Kendall's test,
//   corrected
//      for autocorrelation. Thousands of places are judged at once: `judged` divides the level
//      (Bonferroni), so that of many programs without a trend few have any place that seems to
//      grow. Only those count that move by more than the floor, which doesn't depend on their trend
//      (Bourgon, Gentleman & Huber 2010).
//   3. Floor: the lowest of the last third must lie above that of the first by half of what the
//      slope makes of it, and the end above what was before the warm-up. A leak is what never comes
//      back; what swings or bursts comes back.
//   4. Levelling off: the slope of the later half of the rest against that of the earlier half.
//      What fills a bounded store slows down, like 1 − e^(−t/τ) or at once; a leak goes on. 1/2
//      tells them apart, with the slopes' errors; what stays unclear is compared with the warm-up.
//   5. Estimates (run --sample): the later half's own rise must exceed three times its error, which
//      is wider for what comes and goes, since other blocks are sampled in its place.
//
// Thread safety: pure. Cost: about a millisecond for 128 moments, next to nothing for what moves by
// less than the floor.
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
  double floor_bytes = 4096;        // who moves by less over the whole run is steady
  size_t judged = 1;                // how many places are judged at once and exceed the floor
  double standard_error_bytes = 0;  // of what is live at the end, if it is estimated
};

struct Growth {
  GrowthVerdict verdict = GrowthVerdict::kUndecided;
  const char* reason = "";    // a clause: "rises and falls back"
  bool has_trend = false;     // else the next four say nothing: too little to tell by, or too small
  double bytes_per_hour = 0;  // after the warm-up
  double low = 0, high = 0;   // its confidence interval, 95 %; of estimates with their error
  double p_value = 1;         // of the trend: how likely a place without one rises like that
  size_t warm_up = 0;         // the first moment that was judged
  uint64_t warm_up_ms = 0;    // its time
  uint64_t span_ms = 0;       // from it to the last moment
  // For how long it has not fallen below half of what is live at the last moment.
  uint64_t held_ms = 0;
};

// `times_ms` after the start, ascending; as many as `live_bytes`.
Growth JudgeGrowth(std::span<const uint64_t> times_ms, std::span<const uint64_t> live_bytes,
                   const GrowthOptions& options);

// What a history says of each of so many moments, in bytes.
std::vector<uint64_t> LiveBytesOf(const LiveHistory& history, size_t moments);
std::vector<uint64_t> TimesOf(const Moments& moments);

// The noise floor for places of a program that has so much live: what it moves by beside that is
// not worth a row.
double GrowthFloor(uint64_t program_bytes);
// Whether a place moves by more than the floor, so that it counts in GrowthOptions::judged.
bool ExceedsFloor(std::span<const uint64_t> live_bytes, double floor_bytes);

}  // namespace memprof
