// TreeFinish: what is left of a run when the program itself has ended: descendants that live on.
//
//   --wait     the supervisor stays with them, as the one who reaps them
//   else       it goes on in the background, as a process of its own that holds none of the
//              descriptors it was started with: `$(memprof run …)` ends with the program
//
// Thread safety: none. Failure: without a process for the background the captures are written as
// the descendants are now.
#pragma once

#include <string>
#include <vector>

#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/tree/process_tree.h"

namespace memprof {

// Descriptors that are open now: before any of ours is.
std::vector<int> OpenDescriptors();

// Each image that is watched takes a few.
void RaiseOwnDescriptorLimit();

// Descendants whose parents end become ours: before any is there.
void AdoptDescendants();

// Stays until no descendant lives that is profiled, or a signal asks it to end. Who is just
// executing something has a moment. `all`: also while another one lives from which a tracker may
// come.
void StayWithTree(ProcessTree& tree, Signals& signals, TrackerSocket& socket, bool all);

// The moment that trackers have to come. Whether a descendant lives then that is profiled.
bool AwaitTrackers(ProcessTree& tree, Signals& signals, TrackerSocket& socket);

enum class Supervising {
  kInBackground,  // this is the new process: it is to stay with the tree, and to end
  kElsewhere,     // the new process does it: here the tree is only to be concluded
  kEnded,         // there is no new process: nobody stays with the tree
};
// The tree is settled. `callers` are closed in the background, and the directory is its own.
Supervising GoOnInBackground(ProcessTree& tree, PrivateDirectory& directory,
                             const std::vector<int>& callers);

// What the run says of its descendants.
std::vector<std::string> TreeLines(const TreeOutcome& tree, const std::string& output);

}  // namespace memprof
