#include "cli/supervisor/tree/slot_owners.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include "cli/basics/process_facts.h"

namespace memprof {
namespace {

using Owns = ChildrenAreaFile::Owns;

struct Candidates {
  pid_t owner = 0;  // the first one that has the guard page
  uint64_t start_ticks = 0;
  pid_t unasked = 0;  // one that may not be asked
  int unasked_count = 0;
};

// A descendant may have another user only where we are root, or may ask about it anyway.
bool MayBeOfOurUser(pid_t pid) {
  if (geteuid() == 0) return true;
  uid_t real = 0;
  return bool(std::istringstream(StatusLine(pid, "Uid")) >> real) && real == getuid();
}

// It has the guard page.
void Consider(pid_t pid, const ProcessState& state, Candidates& found) {
  // Who was forked by the owner has its guard page until it has one of its own.
  const bool first = found.owner == 0 || state.start_ticks < found.start_ticks ||
                     (state.start_ticks == found.start_ticks &&
                      StateOf(found.owner).value_or(ProcessState{}).parent == pid);
  if (!first) return;
  found.owner = pid;
  found.start_ticks = state.start_ticks;
}

SlotOwner Decide(const Candidates& found, bool has_pid) {
  if (found.owner != 0) return {Owns::kYes, found.owner};
  if (found.unasked_count == 0) return {Owns::kNo, 0};
  // Without a pid any process of the machine may be the one.
  if (found.unasked_count == 1 && has_pid) return {Owns::kYes, found.unasked};
  return {Owns::kUnknown, 0};
}

}  // namespace

std::vector<SlotOwner> FindSlotOwners(const std::vector<SlotClaim>& claims, uint64_t since) {
  std::vector<SlotOwner> owners(claims.size());
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return owners;
  std::vector<Candidates> found(claims.size());
  while (const dirent* entry = readdir(processes)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    if (pid <= 0 || pid == getpid()) continue;
    const auto state = StateOf(pid);
    if (!state || state->of_kernel || state->state == 'Z' || state->start_ticks < since) continue;
    const uint32_t own_pid = NamespacePid(pid);
    std::map<const ChildrenAreaFile*, std::optional<std::vector<uint32_t>>> guards;  // asked once
    for (size_t i = 0; i < claims.size(); ++i) {
      const auto& [area, claim] = claims[i];
      if (claim.pid != kUnknownPid && own_pid != 0 && claim.pid != own_pid) continue;
      if (!guards.contains(area)) guards[area] = area->GuardsOf(pid);
      const auto& slots = guards[area];
      if (slots) {
        const bool has = std::find(slots->begin(), slots->end(), claim.slot) != slots->end();
        if (has) Consider(pid, *state, found[i]);
      } else if (MayBeOfOurUser(pid)) {
        found[i].unasked = pid;
        ++found[i].unasked_count;
      }
    }
  }
  closedir(processes);
  for (size_t i = 0; i < claims.size(); ++i) {
    owners[i] = Decide(found[i], claims[i].claim.pid != kUnknownPid);
  }
  return owners;
}

}  // namespace memprof
