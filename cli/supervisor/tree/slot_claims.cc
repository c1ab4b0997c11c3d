#include "cli/supervisor/tree/slot_claims.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/basics/process_facts.h"
#include "cli/supervisor/tree/slot_owners.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Owns = ChildrenAreaFile::Owns;

constexpr milliseconds kShortestPause{100};  // between searches
constexpr int kSearchShare = 20;             // a search takes at most this part of the time, except
constexpr size_t kMostUnresolved = 256;      // … if so many slots wait for it

}  // namespace

SlotClaims::SlotClaims(ChildrenAreas& areas, TreeMembers& members, Watch watch, Take take)
    : areas_(areas), members_(members), watch_(std::move(watch)), take_(std::move(take)) {}

bool SlotClaims::Look() {
  const std::vector<AreaClaim> claims = areas_.NewClaims();
  for (const AreaClaim& found : claims) {
    if (found.claim.foreign_pids || found.claim.pid == kUnknownPid) {
      unresolved_.push_back(found);
    } else {
      Resolve(found);
    }
  }
  if (steady_clock::now() >= next_search_ || unresolved_.size() >= kMostUnresolved) Search();
  return !claims.empty();
}

// For a pid that is valid here: the process can be asked.
void SlotClaims::Resolve(const AreaClaim& found) {
  const auto pid = static_cast<pid_t>(found.claim.pid);
  // Neither the program nor we have a slot. A claim that names us would make us wait here for our
  // own end.
  TreeMember* const process = pid == members_.program() || pid == getpid() ? nullptr : watch_(pid);
  // The pidfd was opened before, so the process that has the slot now is the watched one.
  Owns owns = process != nullptr ? found.area->Has(pid, found.claim.slot) : Owns::kNo;
  if (owns == Owns::kUnknown && process->HasEnded()) owns = Owns::kNo;
  if (owns == Owns::kUnknown) {
    const auto state = StateOf(pid);
    // It isn't known whether it can be a descendant, or it is one that has a slot already.
    if (!state || process->slot) {
      unresolved_.push_back(found);
      return;
    }
    // A hostile process may name a kernel thread, or a process older than the program. Nobody waits
    // for the ends of those.
    if (state->of_kernel || state->start_ticks < members_.program_started()) owns = Owns::kNo;
  }
  const bool executed = owns == Owns::kNo && process != nullptr && !process->HasEnded();
  if (executed && !MayHaveClaimed(pid, *found.area)) {
    if (!process->IsLiving()) members_.Unwatch(pid);
    take_({found, nullptr, false, false});
    return;
  }
  take_({found, process, owns != Owns::kNo, executed});
}

// Any process with access to the area can name any other in a claim. One that has no slot in it is
// believed to have had one only if it is a descendant, or could be an orphaned one: younger than
// the program, and of the area's user.
bool SlotClaims::MayHaveClaimed(pid_t pid, const ChildrenAreaFile& area) const {
  if (members_.IsDescendant(pid)) return true;
  if (StartTicksOf(pid).value_or(0) < members_.program_started()) return false;
  const auto user = UserOf(pid);
  return user && areas_.IsOf(*user, area);
}

void SlotClaims::Search() {
  if (unresolved_.empty()) return;
  const auto began = steady_clock::now();
  std::vector<SlotClaim> wanted;
  for (const AreaClaim& found : unresolved_) wanted.push_back({found.area, found.claim});
  const auto owners = FindSlotOwners(wanted, members_.program_started(),
                                     [this](pid_t pid) { return members_.IsDescendant(pid); });
  const std::vector<AreaClaim> claims = std::exchange(unresolved_, {});
  for (size_t i = 0; i < claims.size(); ++i) {
    if (owners[i].owns == Owns::kUnknown) {  // its slot is not reused
      unresolved_.push_back(claims[i]);
      continue;
    }
    TreeMember* const process = owners[i].owns == Owns::kYes && owners[i].pid != members_.program()
                                    ? watch_(owners[i].pid)
                                    : nullptr;
    // As above. A process that may not be asked is the only possible one.
    const Owns owns =
        process != nullptr ? claims[i].area->Has(owners[i].pid, claims[i].claim.slot) : Owns::kNo;
    if (owns == Owns::kUnknown && process->slot && !process->HasEnded()) {
      unresolved_.push_back(claims[i]);  // one of the two belongs to another process
      continue;
    }
    take_({claims[i], process, owns != Owns::kNo, false});
  }
  const auto now = steady_clock::now();
  next_search_ =
      now + std::max<steady_clock::duration>(kShortestPause, (now - began) * kSearchShare);
}

std::vector<AreaClaim> SlotClaims::GiveUp() { return std::exchange(unresolved_, {}); }

}  // namespace memprof
