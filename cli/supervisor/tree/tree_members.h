// TreeMembers: the watched processes of a program's tree, each with a pidfd, which becomes readable
// when its process ends.
//
// Another process may get a pid as soon as its process has ended. As long as the pidfd isn't
// readable, the process is the same one. Old kernels have no pidfds, and a small limit on
// descriptors has none for each: such a process is looked for in /proc, where the time of its start
// tells it from another one of that pid.
//
// Thread safety: one owner, one thread. Failure: only Make fails.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/supervisor/images/image.h"
#include "cli/supervisor/tree/children_area_file.h"
#include "core/scoped_fd.h"

namespace memprof {

using ImageKey = std::pair<const ChildrenAreaFile*, ImageId>;  // no area: a visitor's

struct TreeMember {
  pid_t pid = 0;
  ScopedFd pidfd = {};                   // none: there is no descriptor for it
  std::optional<uint64_t> started = {};  // StartTicksOf, if there is no pidfd
  std::string suffix = {};               // of its captures: ".4711"
  std::unique_ptr<Image> image = {};     // null: it runs a program without a tracker
  ImageKey id = {};
  ChildrenAreaFile* area = nullptr;  // of the slot
  std::optional<uint32_t> slot = {};
  int executed = 0;
  std::string untracked = {};  // the program that it has executed since, without a tracker so far
  std::chrono::steady_clock::time_point executed_at = {};  // … when the exec was seen
  bool may_claim = false;                                  // it was forked by one that is followed
  bool may_come = false;                                   // its environment is set for a tracker

  bool HasEnded() const;
  // True if it is profiled, or will be once it allocates.
  bool IsLiving() const { return image != nullptr || may_claim; }
};

class TreeMembers {
 public:
  static Result<TreeMembers> Make(pid_t program);

  int fd() const { return epoll_.get(); }  // readable when one has ended
  pid_t program() const { return program_; }
  uint64_t program_started() const { return program_started_; }  // StartTicksOf; 0: not known

  std::map<pid_t, TreeMember>& all() { return members_; }
  const std::map<pid_t, TreeMember>& all() const { return members_; }
  TreeMember* Find(pid_t pid);  // null: it isn't watched

  // Begins to watch the process; null: it has ended. Pre: it isn't watched.
  TreeMember* Watch(pid_t pid);
  void Unwatch(pid_t pid);

  // Calls `end` for each member that has ended. `end` must unwatch it.
  void TakeEnded(const std::function<void(TreeMember&)>& end);

  // True if the process lives and is the program or one of its descendants: by its parents, or
  // because it is watched. An orphan that isn't watched can't be identified.
  bool IsDescendant(pid_t pid) const;

 private:
  TreeMembers(pid_t program, ScopedFd epoll);
  bool IsKnownToLive(pid_t pid) const;

  pid_t program_;
  uint64_t program_started_;
  ScopedFd program_pidfd_;  // none: not known
  ScopedFd epoll_;
  std::map<pid_t, TreeMember> members_;  // the living ones
};

}  // namespace memprof
