// CountingMode: what changes, while the process counts, which way its events go: a program that
// stopped counting, scopes that watch threads, and frees that no hook saw.
//
// Every event looks at one word anyway, which says whether the process counts (`counting`,
// tracker.h). All that is unusual is another value of that word, so that the usual event has no
// instruction for it.
//
// Thread safety: any thread, also a signal handler. If changes race, the last one to look sets
// the word to what all of them amount to. In a forked child the word is 0 and stays so.
// Other threads see a change at their next event that is ordered after it.
#pragma once

#include <atomic>
#include <cstdint>

namespace memprof {

// Threads' own peaks are watched by so many scopes.
extern constinit std::atomic<uint32_t> watching_scopes;
inline bool WatchesThreads() { return watching_scopes.load(std::memory_order_relaxed) != 0; }

// One more scope watches threads, or one less.
void ChangeWatching(int32_t by);

// One more stop, or one less, but not less than none. Returns how many are in force.
uint32_t ChangeStops(int32_t by);

// A free was not seen. From now on each allocation looks whether there was another one
// (events/event_cell.h, ForgetUnseenFree).
void LookForUnseenFrees();
bool LooksForUnseenFrees();

// In a forked child that counts again (`counting` says so): no scope watches any more, a stop is
// still in force.
void RestartCountingMode();

// Whether a stop is in force.
bool CountingStopped();

}  // namespace memprof
