// ProcessTree: follows a program's descendants from outside: it finds them, notices when each ends
// or executes another program, and writes their captures.
//
//   forked child     claims a slot of the children's area by itself; found there (Look)
//   executed image   its tracker comes to the socket (OnVisitor)
//   end              the process's pidfd
//
// A process is identified by what the kernel says, never by what the process says. It is the peer
// of a socket, or the process that has a slot's guard page readable
// (core/protocol/children_area.h). If the kernel can't be asked, the pid in the claim is watched,
// provided that it can be a descendant at all. The slot isn't reused before that process has ended.
//
//   ChildrenAreas   the memory in which forked children count
//   TreeMembers     the watched processes, and which of them live
//   SlotClaims      which process has claimed which slot
//   TreeCaptures    the captures
//
// Thread safety: one owner, one thread. Failure: reported on stderr; no process is ever disturbed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/channels/shown_run.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/images/image.h"
#include "cli/supervisor/tree/children_areas.h"
#include "cli/supervisor/tree/program_filter.h"
#include "cli/supervisor/tree/slot_claims.h"
#include "cli/supervisor/tree/tree_captures.h"
#include "cli/supervisor/tree/tree_members.h"
#include "cli/supervisor/tree/untracked_programs.h"

namespace memprof {

class InnerJemallocCache;

struct ProcessTreeOptions {
  TreeCaptureOptions captures;
  TrackerOptions tracker;
  ProgramFilter filter;
  bool command_line = true;                 // keep the command line in the captures
  std::chrono::milliseconds checkpoint{0};  // of living descendants; 0: none
  std::string socket;                       // the path of the trackers' socket
};

struct TreeOutcome {
  uint64_t processes = 0;                // descendants that were profiled
  uint64_t living = 0;                   // how many of those still live
  uint64_t refused = 0;                  // forked children for which there was no slot
  uint64_t left_out = 0;                 // images that --only and --skip left out
  std::map<std::string, int> untracked;  // programs that were seen running without a tracker
  std::vector<std::string> files;        // captures left beside the merge
  size_t images = 0;                     // images of descendants that are in the merge
  std::string merge;                     // its file; empty: there is none
  std::string merge_error;
};

class ProcessTree {
 public:
  // `jemallocs` must outlive this.
  static Result<std::unique_ptr<ProcessTree>> Make(ProcessTreeOptions options, pid_t program,
                                                   InnerJemallocCache& jemallocs);
  ~ProcessTree();
  ProcessTree(const ProcessTree&) = delete;

  // Whether --only and --skip let this process's image be profiled.
  bool Wants(pid_t pid);
  // The children's area for a visitor of this user, or for the program itself.
  TrackerSocket::ForChildren ForChildrenOf(ImageId image, uid_t user);
  // Registers an image of the program itself, which runs `program`; returns its id.
  ImageId ProgramStarts(const SnapshotProgram& program);

  // Adds the living descendants that count, those with the highest peaks first.
  void Show(ShownRun& run) const;

  // True if the process lives and is the program or one of its descendants: by its parents, or
  // because we watch it. An orphan that we don't watch can't be identified.
  bool IsDescendant(pid_t pid) const { return members_.IsDescendant(pid); }

  // Handles a descendant's tracker.
  void OnVisitor(TrackerSocket& socket, const TrackerSocket::Visitor& visitor);

  // Readable when a descendant has ended.
  int fd() const { return members_.fd(); }
  void Look();
  std::chrono::steady_clock::time_point NextLook() const { return next_look_; }

  // Looks; true if there is a descendant that is profiled, or will be once it allocates.
  bool AnyLiving();
  // The same, as of the last look.
  bool HasLiving() const;
  // Finds descendants that don't count, also orphans, and watches them: processes that were forked
  // by one that counts, and those that are executing a program just now.
  void LookForUnclaimed();
  // True if, as of the last such look, a tracker may still come from one of them: it is executing a
  // program, or runs without a tracker and may execute another one.
  bool HasComing() const;
  // Pre: just looked. Afterwards no thread runs and nothing is pending: this process may be forked.
  void Settle();
  // Sends it to every followed descendant that lives.
  void SignalAll(int number);
  // Writes the captures of living descendants as they are now, without waiting for their ends. No
  // descendant is looked for afterwards.
  void StopWatching();
  // The descendants that are in no capture, as of the last look.
  std::vector<Unseen> UnseenSoFar() const;
  // Pre: settled. The merge is written unless a descendant still lives.
  TreeOutcome Conclude(const Snapshot* program, const std::vector<std::string>& program_images);

 private:
  ProcessTree(ProcessTreeOptions options, InnerJemallocCache& jemallocs, ChildrenAreas areas,
              TreeMembers members);
  TreeMember* Watch(pid_t pid);
  void SayWhyNot(const std::string& why);
  void TakeClaims();
  void TakeClaim(const SlotClaims::Resolved& resolved);
  void TakeUnresolved();
  void AddUntracked(pid_t pid, const std::string& name);
  void LookAt(TreeMember& process);
  void LookForUntracked();
  void Sample();
  void ForgetLater(const ImageKey& id);
  void EndProcess(TreeMember& process);
  void EndImage(TreeMember& process, EndKind end, uint32_t code);
  void EndImageWith(const std::optional<int>& status, TreeMember& process);
  void WriteCheckpoints();
  bool MayCome(pid_t pid) const;
  uint64_t CountLiving() const;
  ImageOrigin NewOrigin() const;
  ImageOrigin OriginOf(const AreaClaim& found) const;

  const ProcessTreeOptions options_;
  ChildrenAreas areas_;
  TreeMembers members_;
  SlotClaims claims_;
  TreeCaptures captures_;
  InnerJemallocCache& jemallocs_;
  std::map<ImageKey, SnapshotProgram> runs_;  // images that may fork, or may have forked
  std::deque<ImageKey> ended_runs_;           // of them
  uint64_t next_image_ = 0;
  bool stopped_ = false;
  TreeOutcome outcome_;
  std::set<std::pair<pid_t, std::string>> left_out_;
  std::set<std::string> said_;  // why programs could not be followed
  UntrackedPrograms untracked_;
  std::vector<pid_t> to_checkpoint_;  // in the current round, the heaviest last
  std::chrono::steady_clock::time_point next_look_, next_sample_, next_search_, next_checkpoint_;
};

}  // namespace memprof
