// When the program is stopped, the shell that started us must see its job stopped: it waits for us.
//
// Thread safety: any. Failure: where there is no job control, nothing is done.
#pragma once

namespace memprof {

// Stops this process too, if a job-control shell started it: one that gave it a process group of
// its own on a terminal. Returns when it is continued. Elsewhere nobody would continue us, who
// continues the program alone.
void StopWithProgram();

}  // namespace memprof
