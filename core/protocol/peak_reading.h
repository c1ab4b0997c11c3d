// PeakReading: the ordering word with the live bytes, read while others count.
//
// While the word is far the live bytes are in accounts (core/protocol/peak_accounts.h), which are read
// one after the other, and the generation may end meanwhile. So the word is looked at again:
//
//   it is the same, and two sums are       no account changed between the two, unless one went away
//   equal, account by account              and came back
//   it is the same, and they differ        a sum is off by at most what was added and removed while it
//                                          was taken: of several tries, the one in which the accounts
//                                          moved least is used
//   it moves each time                     what there was when a generation began, but for an event
//                                          that was being entered; after so many tries even if the word
//                                          isn't the same after the base was read
//
// Thread safety: any thread or process; waits for nobody. Memory order: the reader's loads acquire.
#pragma once

#include <cstdint>

#include "core/protocol/peak_accounts.h"
#include "core/protocol/region_layout.h"

namespace memprof {

inline constexpr int kPeakSumTries = 5;
inline constexpr int kPeakBaseTries = 100;

// Not a word that is torn so that it seems armed below its peak, since one bit means armed or far; but
// one is possible that is torn between near values at the peak and far ones, and seems armed at it.
inline constexpr bool CanBe(const PackedPeak& word) {
  const PeakState state = Unpack(word);
  if (state.far) return true;
  const auto peak = static_cast<int64_t>(state.peak);
  return state.armed ? state.current == peak : state.current <= peak;
}

inline void SetCurrent(PeakState& state, int64_t current) {
  const auto most = static_cast<int64_t>(state.peak);  // while it is far
  if (current > most) current = most;
  state.current = current < -kPeakBias ? -kPeakBias : current;
}

// `reader` has
//   bool Word(PackedPeak&)                       as it is now
//   bool Base(uint64_t generation, int64_t&)     what a generation began with
//   bool Sum(uint64_t generation, AccountSums&)  that, and what its accounts have
// each false if that can't be read any more; then this is false, too.
template <typename Reader>
bool ReadPeakState(Reader&& reader, PeakState& state) {
  PackedPeak seen;
  PackedPeak after;
  PeakState best;
  uint64_t least = UINT64_MAX;  // moved
  for (int i = 0; i < kPeakSumTries; ++i) {
    if (!reader.Word(seen)) return false;
    state = Unpack(seen);
    if (!state.far) return true;
    AccountSums first;
    AccountSums second;
    if (!reader.Sum(state.generation, first) || !reader.Sum(state.generation, second) ||
        !reader.Word(after)) {
      return false;
    }
    if (seen != after) continue;
    SetCurrent(state, second.live);
    if (first.mix == second.mix && first.live == second.live) return true;
    const uint64_t moved = MovedBetween(first, second);
    if (moved < least) {
      least = moved;
      best = state;
    }
  }
  if (least != UINT64_MAX) {
    state = best;
    return true;
  }
  for (int i = 0; i < kPeakBaseTries; ++i) {
    if (!reader.Word(seen)) return false;
    state = Unpack(seen);
    if (!state.far) return true;
    int64_t base;
    if (!reader.Base(state.generation, base) || !reader.Word(after)) return false;
    SetCurrent(state, base);
    if (seen == after) return true;
  }
  return true;
}

}  // namespace memprof
