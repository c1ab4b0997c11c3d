// TreeFinish: the end of a run whose program has ended while descendants live on.
//
//   --wait     the supervisor stays with them, and reaps them
//   else       it goes on in the background, as a new process that holds none of the descriptors
//              that memprof was started with: `$(memprof run …)` ends with the program
//
// Thread safety: none. Failure: if no background process can be forked, the captures are written
// with the descendants' current figures.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/tree/process_tree.h"

namespace memprof {

// The descriptors that are open now. Call it before we open any.
std::vector<int> OpenDescriptors();

// Each watched image takes a few descriptors.
void RaiseOwnDescriptorLimit();

// Makes us the new parent of descendants whose parents end. Call it before there is any.
void AdoptDescendants();

struct TreeEnd {
  const Snapshot* program;                         // the last image; null: it has no capture
  const std::vector<std::string>& program_images;  // the captures of earlier images
  bool wait;                                       // stay with all descendants
  bool timed_out;                   // end them: they had their SIGTERM with the program
  const std::vector<int>& callers;  // closed in the background process
  // the background process calls it at its end; may be empty
  const std::function<void(const TreeOutcome&)>& at_late_end;
};
// Stays with descendants, or hands them and the directory to a background process. In that process
// this never returns.
TreeOutcome FinishTree(const TreeEnd& end, ProcessTree& tree, Signals& signals,
                       TrackerSocket& socket, PrivateDirectory& directory);

// The run's lines about its descendants.
std::vector<std::string> TreeLines(const TreeOutcome& tree, const std::string& output);

}  // namespace memprof
