#include "cli/supervisor/tree/slot_owners.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"

namespace memprof {
namespace {

using Owns = ChildrenAreaFile::Owns;

struct Candidates {
  pid_t owner = 0;  // the first one that has the guard page
  uint64_t start_ticks = 0;
  pid_t unasked = 0;  // one that may not be asked
  int unasked_count = 0;
  bool unknown = false;  // a process of another user that may not be asked, and isn't a descendant
};

// For processes that may not be asked: those of other users are mostly strangers, unless we are
// root.
bool MayBeOfOurUser(pid_t pid) {
  if (geteuid() == 0) return true;
  uid_t real = 0;
  return bool(std::istringstream(StatusLine(pid, "Uid")) >> real) && real == getuid();
}

// Pre: the process has the guard page.
void Consider(pid_t pid, const ProcessState& state, Candidates& found) {
  // A child of the owner has its guard page until it claims a slot of its own.
  const bool first = found.owner == 0 || state.start_ticks < found.start_ticks ||
                     (state.start_ticks == found.start_ticks &&
                      StateOf(found.owner).value_or(ProcessState{}).parent == pid);
  if (!first) return;
  found.owner = pid;
  found.start_ticks = state.start_ticks;
}

// Some processes may be invisible: another user's behind the mount option hidepid, or all if there
// is no descriptor left.
bool MayMissProcesses() {
  if (!StateOf(getpid())) return true;
  if (geteuid() == 0) return false;
  std::istringstream mounts(ProcText(getpid(), "mountinfo"));
  for (std::string line; std::getline(mounts, line);) {
    const size_t option = line.find("hidepid=");
    if (option == std::string::npos || line.find(" - proc ") == std::string::npos) continue;
    const std::string how = line.substr(option + std::string("hidepid=").size());
    if (!how.starts_with("0") && !how.starts_with("off")) return true;
  }
  return false;
}

// True if the process exists but its state can't be read.
bool IsHidden(pid_t pid) {
  struct stat info;
  return StatProcFile(pid, "stat", info) || (errno != ENOENT && errno != ESRCH);
}

// Works even if other facts may not be read.
bool HasEnded(const ChildrenAreaFile::Claim& claim) {
  const auto pid = static_cast<pid_t>(claim.pid);
  return !claim.foreign_pids && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

SlotOwner Decide(const Candidates& found, const ChildrenAreaFile::Claim& claim, bool all_seen) {
  const bool has_pid = claim.pid != kUnknownPid;
  if (found.owner != 0) return {Owns::kYes, found.owner};
  if (HasEnded(claim)) return {Owns::kNo, 0};
  if (found.unknown || !all_seen) return {Owns::kUnknown, 0};
  if (found.unasked_count == 0) return {Owns::kNo, 0};
  // Without a pid in the claim, it could be any process of the machine.
  if (found.unasked_count == 1 && has_pid) return {Owns::kYes, found.unasked};
  return {Owns::kUnknown, 0};
}

}  // namespace

std::vector<SlotOwner> FindSlotOwners(const std::vector<SlotClaim>& claims, uint64_t since,
                                      const std::function<bool(pid_t)>& is_descendant) {
  std::vector<SlotOwner> owners(claims.size());
  std::vector<Candidates> found(claims.size());
  const std::vector<pid_t> processes = AllProcesses();
  bool all_seen = !processes.empty();
  for (const pid_t pid : processes) {
    if (pid == getpid()) continue;
    const auto state = StateOf(pid);
    if (!state) {
      all_seen = all_seen && !IsHidden(pid);
      continue;
    }
    if (state->of_kernel || state->start_ticks < since) continue;
    if (state->state == 'Z' && !LivingFolder(pid)) continue;
    const uint32_t own_pid = NamespacePid(pid);
    // each read once
    std::map<const ChildrenAreaFile*, std::optional<std::vector<uint32_t>>> guards;
    for (size_t i = 0; i < claims.size(); ++i) {
      const auto& [area, claim] = claims[i];
      if (claim.pid != kUnknownPid && own_pid != 0 && claim.pid != own_pid) continue;
      if (!guards.contains(area)) guards[area] = area->GuardsOf(pid);
      const auto& slots = guards[area];
      if (slots) {
        const bool has = std::find(slots->begin(), slots->end(), claim.slot) != slots->end();
        if (has) Consider(pid, *state, found[i]);
      } else if (!LivingFolder(pid)) {
        continue;  // it has ended meanwhile
      } else if (MayBeOfOurUser(pid) || (is_descendant && is_descendant(pid))) {
        found[i].unasked = pid;
        ++found[i].unasked_count;
      } else {
        found[i].unknown = true;
      }
    }
  }
  all_seen = all_seen && !MayMissProcesses();
  for (size_t i = 0; i < claims.size(); ++i) {
    owners[i] = Decide(found[i], claims[i].claim, all_seen);
  }
  return owners;
}

}  // namespace memprof
