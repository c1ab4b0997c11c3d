// GlibcWalk: what mallinfo2 may cost, which looks at every free chunk with its arena's lock taken.
//
// Whoever freed a million blocks has them in glibc's lists for long: the walk then takes a tenth
// of a second, and the process's other threads wait for it. So it is asked while the walk is short
// and all walks together are a small part of the process's time; at the end a larger part will do.
//
// How many free chunks there are, nobody says. Not many more than blocks were ever live together,
// which the live map's size tells, less those that are live: of a heap that is near its peak only
// what lies between its blocks is free. Where the map doesn't have all blocks (samples, an attached
// tracker, a forked child), as many are taken as the resident memory has room for. What walks
// really took is counted, so one that was misjudged is not repeated soon.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>

namespace memprof {

// Whether glibc may be asked now.
bool AffordsGlibcWalk(bool at_end);
// A walk that took so long.
void CountGlibcWalk(uint64_t ns);

}  // namespace memprof
