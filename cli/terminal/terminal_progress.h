// TerminalProgress: one line on stderr that names a slow step while it runs, and is then erased.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <string>

#include "core/symbolizer/symbolizer.h"

namespace memprof {

class TerminalProgress {
 public:
  // True if stderr is a terminal that can move back in its line.
  static bool Wanted();

  TerminalProgress();
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void Show(const SymbolizerProgress& progress);

 private:
  std::chrono::steady_clock::time_point next_;  // no update before this time
  bool shown_ = false;
};

// "downloading debug info of libc.so.6: 1.2 of 5.0 MiB".
std::string ProgressText(const SymbolizerProgress& progress);

}  // namespace memprof
