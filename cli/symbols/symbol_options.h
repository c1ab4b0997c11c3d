// The options of commands that show or store functions, files and lines.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/basics/arguments.h"
#include "core/profile/path_map.h"
#include "core/symbolizer/symbolizer.h"

namespace memprof {

struct SymbolOptions {
  PathMap paths;
  // For all downloads together; 0: none.
  std::chrono::milliseconds download_limit = std::chrono::seconds(90);
  bool no_binaries = false;  // read no file that the capture names
  // also the interpreter's frames in stacks with Python frames
  bool native_frames = false;
  // say on stderr if a program's file is missing and the stored names do; of a baseline that is the
  // usual case
  bool says_stored = true;
  // notes name the packages with the missing debug info; this starts a process
  bool names_packages = false;
};

void AddSymbolOptions(Arguments& arguments, SymbolOptions& options);

// --wrapper, which adds to the functions that are taken for the allocator's plumbing in this process
// (AddWrapper). For commands that report by place.
void AddWrapperOption(Arguments& arguments);

// With progress on a terminal.
SymbolizerOptions MakeSymbolizerOptions(const SymbolOptions& options);

}  // namespace memprof
