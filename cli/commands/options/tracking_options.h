// The options that control what a tracker counts, and how: those that run and attach share.
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
  bool no_python = false;
  bool python_allocators = false;
};

void AddTrackingOptions(Arguments& arguments, TrackingFlags& flags);

// --trace-python-allocators, for the commands that start a program.
void AddPythonAllocatorsOption(Arguments& arguments, TrackingFlags& flags);

Result<TrackerOptions> ReadTrackingFlags(const TrackingFlags& flags);

// --no-command-line: leaves the command line out of the capture.
void AddCommandLineOption(Arguments& arguments, bool& command_line);

// -o and -f, for the commands that write a capture.
void AddCaptureFileOptions(Arguments& arguments, std::string& output, bool& force);

// --checkpoint, for the commands that write a capture.
void AddCheckpointOption(Arguments& arguments, std::chrono::milliseconds& time);

}  // namespace memprof
