// ServerProcess: the server of `memprof run --serve`, a process of its own beside the supervisor. It reads
// the program's figures as any viewer does; if it dies, or is killed for its memory, neither the
// supervisor nor the program notices.
//
//   memprof run ── fork, fork ─► memprof serve   a session of its own, no terminal, nice 5
//        └── a pipe that nobody writes to ──► its end tells that the supervisor has ended
//
// Ownership: the pipe's writing end lives as long as the object.
// Failure: Start returns kIo; the program has not started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/serve/listener.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class ServerProcess {
 public:
  // For this process's run. The server has the listener then. Pre: this process has one thread.
  static Result<ServerProcess> Start(Listener listener, const std::vector<std::string>& names,
                                     const std::string& token);

 private:
  explicit ServerProcess(ScopedFd end) : end_(std::move(end)) {}

  ScopedFd end_;
};

// What such a server inherits.
struct ServerInheritance {
  ScopedFd listener;
  ScopedFd end;  // its other end is closed when the supervisor has ended
  pid_t supervisor = 0;
  std::string url;
};
// Unset: this process is no such server. Takes it out of the environment. Failure: kUsage.
Result<std::optional<ServerInheritance>> TakeInheritance();

// The server's first steps: it gives way to the program, and is the first to go if memory runs out.
void StepBack();

}  // namespace memprof
