#include "cli/run/tree/untracked_programs.h"

#include "cli/process_facts.h"

namespace memprof {

void UntrackedPrograms::Look(std::vector<pid_t> parents, const ProgramFilter& filter,
                             const std::function<bool(pid_t)>& is_tracked) {
  std::set<std::pair<pid_t, std::string>> seen;
  for (size_t i = 0; i < parents.size(); ++i) {
    for (const pid_t child : ChildrenOf(parents[i])) {
      if (is_tracked(child)) continue;
      const std::string name = CommandNameOf(child);
      if (name.empty()) continue;
      parents.push_back(child);
      seen.emplace(child, name);
      const auto names = ProgramNamesOf(child);
      if (names.empty() || !filter.Takes(names)) continue;  // a zombie, or left out
      if (!seen_.contains({child, name})) continue;
      if (told_.emplace(child, name).second) programs_[names[0]] += 1;
    }
  }
  seen_ = std::move(seen);
}

}  // namespace memprof
