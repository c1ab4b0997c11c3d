// The options of run that say when a program's snapshots are taken.
//
// Failure: kUsage, one line.
#pragma once

#include <chrono>
#include <string>

#include "cli/basics/arguments.h"
#include "cli/supervisor/run_snapshots.h"
#include "core/result.h"

namespace memprof {

struct SnapshotFlags {  // as the user wrote them; empty: not given
  std::string every;
  std::string signal;
  std::string at_rss;
  std::string files;
};

void AddSnapshotOptions(Arguments& arguments, SnapshotFlags& flags);

// The files' names as they were given: they are to be expanded. Without the program.
Result<SnapshotOptions> ReadSnapshotFlags(const SnapshotFlags& flags);

// A duration (core/units.h) of at least so long.
Result<std::chrono::milliseconds> ReadPeriod(const std::string& option, const std::string& text,
                                             std::chrono::milliseconds least);

// "USR1", "SIGUSR1", "10". Nothing: no such signal.
int SignalNumber(const std::string& text);

}  // namespace memprof
