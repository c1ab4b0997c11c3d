// Counting: whether this process counts, and which of its events. It is one word, which every event
// reads.
//
// Unusual states are further values of that word, so that the usual event has no instruction for
// them: a program that stopped counting, scopes that watch threads, and frees that no hook saw.
//
// Thread safety: any thread, also a signal handler. If changes race, the last thread to look sets
// the word to the combination of all of them. In a forked child the word is kNone until the child
// has started. Other threads see a change at their next event that is ordered after it.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregator/state/start_tracker.h"

namespace memprof {

enum class CountingMode : uint32_t {
  kNone = 0,  // this process doesn't count, or not yet; the value of a wiped page
  kAll = 1,
  kSamples = 2,
  // all events; the temporary threshold is above 1, scopes watch threads, or frees that no hook saw
  // are looked for
  kAllUnusual = 3,
  kStoppedAll = 4,      // the program stopped counting: only frees,
  kStoppedSamples = 5,  // of all known blocks or of samples
};

// It points to a page that a forked child gets zeroed (MADV_WIPEONFORK), once this process counts.
extern std::atomic<CountingMode>* counting;

inline CountingMode CurrentMode() { return counting->load(std::memory_order_relaxed); }

inline bool CountsAnything() { return CurrentMode() != CountingMode::kNone; }
inline bool CountsSamples() { return CurrentMode() == CountingMode::kSamples; }

// True if a hook's event has to be counted at all.
inline bool Counting() { return CountsAnything() || StartTracker(); }

bool CountsAllUnusually();  // for CountsAll, if the mode is neither kAll nor kSamples

// True if every event is counted. If not, samples are, or none: CountsSamples.
[[gnu::always_inline]] inline bool CountsAll() {
  const CountingMode mode = CurrentMode();
  if (__builtin_expect(mode == CountingMode::kAll, 1)) return true;
  return mode != CountingMode::kSamples && CountsAllUnusually();
}

// --- what changes the mode -----------------------------------------------------------------------

// The number of scopes that watch threads' own peaks.
extern constinit std::atomic<uint32_t> watching_scopes;
inline bool WatchesThreads() { return watching_scopes.load(std::memory_order_relaxed) != 0; }

// Adds or removes a scope that watches threads.
void ChangeWatching(int32_t by);

// Adds or removes a stop; never below none. Returns the number of stops.
uint32_t ChangeStops(int32_t by);

// True if there is a stop.
bool CountingStopped();

// A free was not seen. From now on each allocation checks whether there was another one
// (events/heap_events.h, ForgetUnseenFree).
void LookForUnseenFrees();
bool LooksForUnseenFrees();

// In a forked child that counts again (`counting` says so): no scope watches any more; a stop
// stays.
void RestartCountingMode();

}  // namespace memprof
