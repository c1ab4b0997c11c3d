#include "cli/supervisor/tree/untracked_programs.h"

#include "cli/basics/process_facts.h"

namespace memprof {

void UntrackedPrograms::Look(std::vector<pid_t> parents, const ProgramFilter& filter,
                             const std::function<bool(pid_t)>& is_tracked) {
  std::set<pid_t> listed(parents.begin(), parents.end());
  std::map<pid_t, uint64_t> seen;
  const auto look_at = [&](pid_t pid) {
    // A tracked process may have untracked children.
    if (listed.insert(pid).second) parents.push_back(pid);
    if (is_tracked(pid)) return;
    const auto state = StateOf(pid);
    if (!state) return;
    seen[pid] = state->start_ticks;
    const auto before = seen_.find(pid);
    const auto names = ProgramNamesOf(pid);
    if (names.empty() || !filter.Takes(names)) return;  // a zombie, or left out
    if (before == seen_.end() || before->second != state->start_ticks) return;
    if (told_.emplace(pid, names[0]).second) programs_[names[0]] += 1;
  };
  // Includes processes that have lost their parents.
  for (const auto& [pid, start] : seen_) {
    if (StartTicksOf(pid) == start) look_at(pid);
  }
  for (size_t i = 0; i < parents.size(); ++i) {
    for (const pid_t child : ChildrenOf(parents[i])) look_at(child);
  }
  seen_ = std::move(seen);
}

void UntrackedPrograms::Add(pid_t pid, const std::string& name, const ProgramFilter& filter) {
  if (name.empty() || !filter.Takes({name})) return;
  if (told_.emplace(pid, name).second) programs_[name] += 1;
}

}  // namespace memprof
