// ShownRun: a run that its supervisor shows to another memprof of the same user, so that it can be
// read while it goes on. Sent over the control channel (control_socket.h) after a kShow request:
//
//   supervisor   ControlReply kTaken, with the capture's path; RunFacts;
//                RunFacts.processes times ProcessFacts, each with a read-only descriptor of the file
//                that the process's region lies in
//
// The descriptors read the figures without the supervisor and without the program: neither waits for
// a viewer.
//
// Thread safety: none. Memory: at most kMostShownProcesses descriptors.
// Security: any process of this user may pretend to be a supervisor. So the regions have no layout
// from outside: readers check the region's own.
// Failure: a viewer that doesn't take the messages at once gets only the first of them; the supervisor
// never waits. A reply that isn't by this protocol is none.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/supervisor/channels/control_socket.h"
#include "core/region/region_place.h"

namespace memprof {

// The program, and its descendants with the highest peaks.
inline constexpr size_t kMostShownProcesses = 64;

struct ShownProcess {
  pid_t pid = 0;
  std::string program;
  int64_t start_unix_ms = 0;
  RegionPlace region = -1;
};

struct ShownRun {
  pid_t supervisor = 0;
  pid_t program = 0;
  std::string capture;                  // the absolute path of the capture that the run will leave
  uint32_t living = 0;                  // processes that count now, also those that aren't shown
  std::vector<ShownProcess> processes;  // the program first, if it still counts
  // Where it is served over HTTP; empty: nowhere. Servers say it, not the supervisor.
  std::string address = {};
};

// Answers the visitor, and closes `fd`.
void AnswerWithRun(int fd, const ShownRun& run);

// Asks the supervisor in this directory, as AskSupervisor does, whose status `why` gets. nullopt: it
// isn't the run that the request names, or nobody answers.
std::optional<ShownRun> AskForRun(const std::string& directory, uid_t other,
                                  const ControlRequest& request, ControlStatus* why = nullptr);

}  // namespace memprof
