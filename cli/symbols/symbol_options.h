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
  bool no_binaries = false;     // read no file that the capture names
  bool names_packages = false;  // notes name the packages that bring what lacks; takes a process
};

void AddSymbolOptions(Arguments& arguments, SymbolOptions& options);

// With progress on a terminal.
SymbolizerOptions MakeSymbolizerOptions(const SymbolOptions& options);

}  // namespace memprof
