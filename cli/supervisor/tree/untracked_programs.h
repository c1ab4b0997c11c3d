// UntrackedPrograms: descendants that run something without our tracker, as far as they are seen:
// static programs, those whose environment was cleaned, and those that may not reach the
// supervisor.
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
  // Looks at the children of `parents`, and at theirs, and again at who was seen before. Who was
  // just executed may still come: it counts when it is seen a second time.
  void Look(std::vector<pid_t> parents, const ProgramFilter& filter,
            const std::function<bool(pid_t)>& is_tracked);

  // One that is known to be of them.
  void Add(pid_t pid, const std::string& name, const ProgramFilter& filter);

  // By name, how many.
  const std::map<std::string, int>& programs() const { return programs_; }

 private:
  std::map<std::string, int> programs_;
  std::map<pid_t, uint64_t> seen_;  // with its start
  std::set<std::pair<pid_t, std::string>> told_;
};

}  // namespace memprof
