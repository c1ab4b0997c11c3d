// LiveSource: reads a run that goes on, again and again.
//
// Each look asks the supervisor which processes count, and reads their regions itself. Neither the
// program nor the supervisor waits for it. When the run has ended, the last look's regions are read
// once more: they are in memory as long as somebody has them open.
//
// Thread safety: one owner. Failure: only the first look's; a process that can't be read is left out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/live/runs.h"
#include "core/snapshot/canonical_snapshot.h"

namespace memprof {

struct LiveProcess {
  pid_t pid = 0;
  std::string program;
  CanonicalSnapshot snapshot;
  uint64_t rss_bytes = 0;  // 0: not known
};

struct LiveReading {
  ShownRun run;                        // without its processes' regions once it has ended
  std::vector<LiveProcess> processes;  // the program first, if it counts
  bool ended = false;
  bool silent = false;  // its supervisor doesn't answer; the figures are read all the same
};

class LiveSource {
 public:
  explicit LiveSource(FoundRun found) : found_(std::move(found)) {}

  // `pid`: only this process; 0: the whole tree.
  LiveReading Read(pid_t pid = 0);

  const ShownRun& run() const { return found_.run; }
  // Asks the supervisor for a named moment; returns what to say of it.
  std::string TakeMoment(const std::string& name);

 private:
  FoundRun found_;
  bool ended_ = false;
};

}  // namespace memprof
