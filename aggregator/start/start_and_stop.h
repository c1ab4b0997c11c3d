// Start and stop of the tracker: it starts at the first event, and ends with the process.
//
//   kNotStarted ─► kStarting ─► kStarted          counting isn't kNone
//                     └───────► kOff              no supervisor, refused, or trouble
//   in a forked child, whose page was wiped:
//   kStarted ─► kStartingInChild ─► kStarted      it counts into a region of its own
//                     └───────────► kOff          it isn't followed (fork/forked_child.h)
//
// Thread safety: any thread may call StartTracker (state/start_tracker.h). The first one starts the
// tracker, and the others run untracked meanwhile. In a forked child the others wait for the first
// one, for a fixed number of looks. After that they go on, and their events count as dropped.
#pragma once

namespace memprof {

// For a tracker that may start more than once (attach/). Pre: one thread calls these.
//
// Starts the tracker, also if the last start failed. False: it is starting or counting already, or
// it can't start.
bool StartAgain();
// Stops counting for good. An event that has begun may be booked or not.
void StopTracker();

}  // namespace memprof
