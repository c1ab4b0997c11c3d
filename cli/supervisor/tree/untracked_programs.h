// UntrackedPrograms: descendants that were seen running a program without our tracker: static
// programs, those with a cleaned environment, and those that can't reach the supervisor.
//
// Thread safety: one owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/tree/program_filter.h"

namespace memprof {

class UntrackedPrograms {
 public:
  // Looks at the children of `parents`, at their children, and at the processes seen earlier. A
  // process that has just executed may still get its tracker, so it counts when it is seen a second
  // time.
  void Look(std::vector<pid_t> parents, const ProgramFilter& filter,
            const std::function<bool(pid_t)>& is_tracked);

  // Adds a process that is known to be untracked.
  void Add(pid_t pid, const std::string& name, const ProgramFilter& filter);

  // The number for each name.
  const std::map<std::string, int>& programs() const { return programs_; }

 private:
  std::map<std::string, int> programs_;
  std::map<pid_t, uint64_t> seen_;  // with its start time
  std::set<std::pair<pid_t, std::string>> told_;
};

}  // namespace memprof
