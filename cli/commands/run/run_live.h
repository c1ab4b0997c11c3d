// LiveRun: `memprof run --live`: a view of the program in the foreground, in a process of its own.
//
//   memprof run ─┬─ program   stdin: /dev/null; stdout, stderr: files (ProgramOutput)
//                └─ view      the terminal
//
// The view is a viewer as any other: leaving it, or its death, does nothing to the program. When it has
// been left, its process prints the program's output, what is there at once and the rest as it comes.
// What it didn't print, Finish prints.
//
// The terminal's signals (Ctrl-C, Ctrl-Z, Ctrl-\) reach the program as without a view, and the view
// outlives them; after the program's end Ctrl-C ends the view.
//
// Thread safety: one a process, which has one thread at Start. Failure: a message for a refusal.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string>
#include <vector>

#include "cli/live/program_output.h"
#include "cli/supervisor/processes/signals.h"
#include "core/result.h"
#include "core/scoped_fd.h"

namespace memprof {

class LiveRun {
 public:
  // Forks the view, which waits for Show. Pre: no socket of the run is open yet: the view would keep it.
  static Result<LiveRun> Start();

  LiveRun(LiveRun&&) = default;
  LiveRun& operator=(LiveRun&&) = delete;
  ~LiveRun();  // a view that isn't shown ends without a trace

  // From now on the standard descriptors are those that the program is to inherit. Messages of memprof
  // itself are then among the program's.
  void Redirect();
  // Descriptors that a background process must not keep.
  std::vector<int> Descriptors() const;

  // The program runs. `directory`: where its supervisor listens.
  void Show(const std::string& directory);

  // Gives the standard descriptors back. If the view was shown: waits until it is left, and the output is
  // printed. A signal ends the view.
  void Finish(Signals& signals);

 private:
  LiveRun(ProgramOutput output, ScopedFd go, pid_t view, const termios& terminal)
      : output_(std::move(output)), go_(std::move(go)), view_(view), terminal_(terminal) {}
  void AwaitView(Signals& signals);

  ProgramOutput output_;
  ScopedFd go_;  // takes the directory; its end tells the view that the program has ended
  pid_t view_;
  termios terminal_;
  ScopedFd standard_[3];  // the caller's, while ours are redirected
  bool is_shown_ = false;
};

}  // namespace memprof
