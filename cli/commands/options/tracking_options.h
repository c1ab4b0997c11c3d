// The options that say what a tracker counts, and how: those that run and attach have in common.
//
// Failure: kUsage, one line.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/basics/arguments.h"
#include "core/protocol/region_layout.h"
#include "core/result.h"

namespace memprof {

struct TrackingFlags {
  std::string sample;  // as the user wrote it; empty: every event is counted
  uint32_t temporary_threshold = 1;
  bool exact_peak = false;
};

void AddTrackingOptions(Arguments& arguments, TrackingFlags& flags);

Result<TrackerOptions> ReadTrackingFlags(const TrackingFlags& flags);

// --no-command-line: the capture is to go without it.
void AddCommandLineOption(Arguments& arguments, bool& command_line);

// --checkpoint, of those that write a capture.
void AddCheckpointOption(Arguments& arguments, std::chrono::milliseconds& time);

}  // namespace memprof
