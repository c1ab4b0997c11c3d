// StartTracker, declared here for the callers below: the first event of a process starts the
// tracker. start/start_and_stop.cc defines it.
#pragma once

namespace memprof {

// Starts the tracker if it can be started now. True: this process counts. Any thread may call it.
bool StartTracker();

}  // namespace memprof
