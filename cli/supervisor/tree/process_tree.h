// ProcessTree: a program's descendants that are profiled, from outside: which there are, when each
// ends or executes something else, and their captures.
//
//   forked child     claims a slot of the children's area by itself; found there (Look)
//   executed image   its tracker comes to the socket (OnVisitor)
//   end              the process' pidfd
//
// A process is known by the kernel's word: the peer of a socket, or who has a slot's guard page
// mapped (core/protocol/children_area.h); never by what it says of itself. If that can't be
// asked, the pid that it says is watched, if that can be a descendant at all, and its slot isn't
// used again before that process has ended.
//
// Each user has a children's area of its own: who gave up root and executed something is not to
// write where processes of root count.
//
// Thread safety: one owner, one thread. Failure: said on stderr; no process is ever disturbed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/images/image.h"
#include "cli/supervisor/tree/children_area_file.h"
#include "cli/supervisor/tree/program_filter.h"
#include "cli/supervisor/tree/tree_captures.h"
#include "cli/supervisor/tree/untracked_programs.h"

namespace memprof {

class InnerJemallocCache;

struct ProcessTreeOptions {
  TreeCaptureOptions captures;
  TrackerOptions tracker;
  ProgramFilter filter;
  bool command_line = true;                 // it is in the captures
  std::chrono::milliseconds checkpoint{0};  // of those that live; 0: none
  std::string socket;                       // of the trackers: its path
};

struct TreeOutcome {
  uint64_t processes = 0;                // descendants that were profiled
  uint64_t living = 0;                   // of those, still
  uint64_t refused = 0;                  // forked children for which there was no slot
  uint64_t left_out = 0;                 // images that --only and --skip left out
  std::map<std::string, int> untracked;  // programs that ran without a tracker, as far as seen
  std::vector<std::string> files;        // captures of descendants
  size_t images = 0;                     // of descendants, that are in the merge
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

  // Whether an image of this process is to be profiled, by --only and --skip.
  bool Wants(pid_t pid);
  // What forked children of a visitor of this user need; for the program itself, too.
  TrackerSocket::ForChildren ForChildrenOf(ImageId image, uid_t user);
  // The id of an image of the program's own; it runs what `image` says.
  ImageId ProgramStarts(const SnapshotProgram& program);

  // Whether the process lives and is one of the program's descendants, or the program: by its
  // parents, or as one that we watch. An orphan that we don't watch can't be told.
  bool IsDescendant(pid_t pid) const;

  // A tracker of a descendant came.
  void OnVisitor(TrackerSocket& socket, const TrackerSocket::Visitor& visitor);

  // Readable when a descendant has ended.
  int fd() const { return epoll_; }
  void Look();
  std::chrono::steady_clock::time_point NextLook() const { return next_look_; }

  // Looks, and says whether there is a descendant that is profiled, or will be once it allocates.
  bool AnyLiving();
  // The same, as of the last look.
  bool HasLiving() const;
  // Watches descendants that don't count, also orphans: who was forked by one that does, and who is
  // just executing something.
  void LookForUnclaimed();
  // Whether there is one, as of the last such look, from which a tracker may come: it executes
  // something, or runs without a tracker and may execute something else.
  bool HasComing() const;
  // Pre: just looked. No thread runs any more, and nothing is waited for: the process may be
  // forked.
  void Settle();
  // Those that live get their captures as they are now, and are not waited for. Nobody is looked
  // for afterwards.
  void StopWatching();
  // What of the descendants is in no capture, as of the last look.
  std::vector<Unseen> UnseenSoFar() const;
  // Pre: settled. The merge is written unless somebody lives still.
  TreeOutcome Conclude(const Snapshot* program, const std::vector<std::string>& program_images);

 private:
  struct AreaClaim {
    ChildrenAreaFile* area;
    ChildrenAreaFile::Claim claim;
  };
  using ImageKey = std::pair<const ChildrenAreaFile*, ImageId>;  // no area: a visitor's

  struct Process {
    pid_t pid = 0;
    int pidfd = -1;
    std::string suffix;            // of its captures: ".4711"
    std::unique_ptr<Image> image;  // none: it runs something without a tracker
    ImageKey id = {};
    ChildrenAreaFile* area = nullptr;  // of the slot
    std::optional<uint32_t> slot;
    int executed = 0;
    std::string untracked;  // what it has executed since, from which no tracker came yet
    std::chrono::steady_clock::time_point executed_at;  // … when that was seen
    bool may_claim = false;                             // it was forked by one that is followed
    bool may_come = false;                              // it has the environment for a tracker
  };

  ProcessTree(ProcessTreeOptions options, pid_t program, InnerJemallocCache& jemallocs,
              ChildrenAreaFile area, int epoll);
  void TakeClaims();
  void TakeByPid(const AreaClaim& found);
  void TakeSearched();
  bool MayHaveClaimed(pid_t pid, const ChildrenAreaFile& area) const;
  void TakeOf(const AreaClaim& found, Process* process, bool has_slot, bool executed);
  bool IsKnownToLive(pid_t pid) const;
  bool IsMappedBy(pid_t pid) const;
  ChildrenAreaFile* AreaOf(uid_t user);
  void AddUntracked(pid_t pid, const std::string& name);
  void EndImage(Process& process, EndKind end, uint32_t code);
  void EndImageWith(const std::optional<int>& status, Process& process);
  static bool HasEnded(const Process& process);
  static bool EndedAsAnother(const Process& process);
  void LookAt(Process& process);
  void EndProcess(std::map<pid_t, Process>::iterator process);
  void Unwatch(std::map<pid_t, Process>::iterator process);
  Process* Watch(pid_t pid);
  void WriteCheckpoints();
  bool MayCome(pid_t pid) const;
  void TakeUnresolved();
  bool IsLiving(const Process& process) const;
  uint64_t CountLiving() const;
  ImageOrigin NewOrigin() const;
  ImageOrigin OriginOf(const AreaClaim& found) const;

  const ProcessTreeOptions options_;
  const pid_t program_;
  const uint64_t program_started_;  // StartTicksOf; 0: not known
  const int program_pidfd_;         // -1: not known
  std::map<uid_t, ChildrenAreaFile> areas_;
  const int epoll_;
  TreeCaptures captures_;
  InnerJemallocCache& jemallocs_;
  std::map<pid_t, Process> processes_;        // that live
  std::vector<AreaClaim> unresolved_;         // whose process is to be searched
  std::map<ImageKey, SnapshotProgram> runs_;  // images that may fork
  uint64_t next_image_ = 0;
  bool stopped_ = false;
  TreeOutcome outcome_;
  std::set<std::pair<pid_t, std::string>> left_out_;
  UntrackedPrograms untracked_;
  std::vector<pid_t> to_checkpoint_;  // of the round that is under way, the heaviest last
  std::chrono::steady_clock::time_point next_look_, next_sample_, next_search_, next_checkpoint_,
      next_owner_search_;
};

}  // namespace memprof
