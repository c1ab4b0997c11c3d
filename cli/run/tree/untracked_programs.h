// UntrackedPrograms: descendants that run something without our tracker, as far as they are seen:
// static programs, and those whose environment was cleaned.
//
// Thread safety: one owner.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/tree/program_filter.h"

namespace memprof {

class UntrackedPrograms {
 public:
  // Looks at the children of `parents`, and at theirs. Who was just forked or executed may still
  // come: it counts when it is seen a second time.
  void Look(std::vector<pid_t> parents, const ProgramFilter& filter,
            const std::function<bool(pid_t)>& is_tracked);

  // By name, how many.
  const std::map<std::string, int>& programs() const { return programs_; }

 private:
  std::map<std::string, int> programs_;
  std::set<std::pair<pid_t, std::string>> seen_, told_;
};

}  // namespace memprof
