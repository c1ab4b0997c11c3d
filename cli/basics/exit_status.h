// Exit statuses.
//
// All commands except `memprof run` have 0 to 3, as below. `memprof run` has the first that
// applies:
//
//   125, 126, 127   memprof's own failure before the start: refused, can't execute, not found
//   124             --timeout ended the program; not with --exit-status=budget
//   the program's   its non-zero status, or 128+N for a signal N; not with --exit-status=budget
//   1               over --budget
//   125             no tracker connected, no capture could be written, or it can't be checked
//   0               otherwise
#pragma once

#include <string>

#include "cli/basics/message.h"

namespace memprof {

inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;  // the system refused: a full disk, a closed pipe
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreadable = 3;

inline constexpr int kExitOverBudget = 1;
inline constexpr int kExitTimedOut = 124;  // as timeout(1)'s
inline constexpr int kExitRefused = 125;
inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

// Prints why nothing is run or attached to; returns the status.
inline int Refuse(const std::string& why, int status = kExitRefused) {
  Say(why);
  return status;
}

}  // namespace memprof
