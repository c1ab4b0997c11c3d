// TerminalProgress: one line on stderr that says what takes long, while it does, and is wiped away.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <string>

#include "core/symbolizer/symbolizer.h"

namespace memprof {

class TerminalProgress {
 public:
  // stderr is a terminal that can go back in its line.
  static bool Wanted();

  TerminalProgress();
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void Show(const SymbolizerProgress& progress);

 private:
  std::chrono::steady_clock::time_point next_;  // not before
  bool shown_ = false;
};

// "downloading debug info of libc.so.6: 1.2 of 5.0 MiB".
std::string ProgressText(const SymbolizerProgress& progress);

}  // namespace memprof
