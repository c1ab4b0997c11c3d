// LiveTable: what changes from look to look in a program that runs. A row is a site, a place, a
// function, a module, a thread or a process; processes of a run are summed.
//
//   look 1   Load 10 MiB        look 2   Load 12 MiB   change +2 MiB
//                               look 61  Load 90 MiB   change +1 MiB, in the last minute +80 MiB
//
// A row's figures are of the stacks that allocate there, or with `inclusive` also of what is called from
// there: a function's figure then has everything below it, once, however often it is in a stack.
//
// The past is kept by stack, and stacks are told apart by their addresses. So it stays when names are
// found, and when rows of another kind are asked for.
//
// Invariant: without `inclusive` the rows sum to the totals.
// Thread safety: none. Memory: the last look's profiles, and 16 bytes a stack and look for the looks of a
// minute.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/count.h"
#include "core/profile/profile.h"

namespace memprof {

enum class LiveBy : uint8_t { kPlace, kFunction, kSite, kModule, kThread, kProcess };
inline constexpr LiveBy kAllLiveBys[] = {LiveBy::kPlace,  LiveBy::kFunction, LiveBy::kSite,
                                         LiveBy::kModule, LiveBy::kThread,   LiveBy::kProcess};
const char* NameOf(LiveBy by);

enum class LiveSort : uint8_t { kLive, kChange, kMinute, kPeak, kRate, kBlocks, kName };
inline constexpr LiveSort kAllLiveSorts[] = {LiveSort::kLive, LiveSort::kChange, LiveSort::kMinute,
                                             LiveSort::kPeak, LiveSort::kRate,   LiveSort::kBlocks,
                                             LiveSort::kName};
const char* NameOf(LiveSort sort);

struct LiveView {
  LiveBy by = LiveBy::kPlace;
  bool inclusive = false;
  LiveSort sort = LiveSort::kLive;
  std::string filter =
      {};  // rows whose name, place or module contains it, ignoring case; empty: all
};

struct LiveFigures {
  Count live, peak, total;
  LiveFigures& operator+=(const LiveFigures& more) {
    live += more.live;
    peak += more.peak;
    total += more.total;
    return *this;
  }
};

struct LiveKey {
  std::string name;   // of the function, module, thread or process
  std::string place;  // "file.cc:12", or the module; empty where the name says it
  std::string module;
  std::string callers = {};  // of a site: "← Inner ← main, thread worker"; else empty
  uint64_t stack = 0;        // of a site: its number; else 0
  auto operator<=>(const LiveKey&) const = default;
};

// The key of a row, or of a caller, for a node of a process's profile: a function if `by` is one, else a
// place. The root's is "[no stack]".
LiveKey KeyOfNode(const Profile& profile, uint32_t node, LiveBy by);

struct LiveRow : LiveKey {
  LiveFigures now;     // with a baseline: what is more since; then without `peak`
  int64_t change = 0;  // of the live bytes, since the look before
  int64_t minute = 0;  // … since a minute ago, or the first look
  double allocations_a_second = 0;
};

// A process as of a look. `profile` has what is live now as leaked.
struct LiveProfile {
  Profile profile;
  std::vector<uint64_t> stacks;  // parallel to its sites: the same number for a stack in every look
};
// A site of the last look's processes.
struct LiveSite {
  uint32_t process = 0, site = 0;
};

// Numbers the stacks of a snapshot, by addresses and the process.
std::vector<uint64_t> NumberStacks(const Snapshot& snapshot);

// Whether one row comes before another in the order of `sort`.
bool IsBefore(const LiveRow& a, const LiveRow& b, LiveSort sort);
// Equal rows stay as they are. A row may be more than a LiveRow.
template <typename Row>
void SortRows(std::vector<Row>& rows, LiveSort sort) {
  std::stable_sort(rows.begin(), rows.end(),
                   [sort](const Row& a, const Row& b) { return IsBefore(a, b, sort); });
}
// Whether a row has nothing to show: it isn't listed.
bool IsEmpty(const LiveRow& row);
// Whether its name, place, module or callers contain a text in lower case.
bool Contains(const LiveKey& key, const std::string& lower);
std::string LowerCase(std::string_view text);

class LiveTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void Add(Time time, std::vector<LiveProfile> processes);

  // The same look with other names: the profiles of the same snapshots, made anew.
  void Rename(std::vector<LiveProfile> processes) { processes_ = std::move(processes); }

  // The rows of the last look.
  std::vector<LiveRow> Rows(const LiveView& view) const;
  // Whether a site is in the row of this key.
  bool IsIn(const LiveKey& key, const LiveSite& site, const LiveView& view) const;
  // The row that these sites sum to.
  LiveRow Sum(LiveKey key, const std::vector<LiveSite>& sites) const;
  LiveFigures totals() const;  // with a baseline: what is more since
  double allocations_a_second() const { return rate_; }
  const std::vector<LiveProfile>& processes() const { return processes_; }

  // From now on figures are of what came after the last look.
  void SetBaseline();
  void ClearBaseline() { has_baseline_ = false; }
  bool has_baseline() const { return has_baseline_; }

 private:
  struct Past {  // of a stack
    uint64_t live_bytes = 0;
    uint64_t allocations = 0;
  };
  struct Look {
    Time time;
    std::vector<Past> stacks;  // by id; a stack that is not there yet had nothing
  };
  LiveFigures Shown(const LiveFigures& now, uint32_t id) const;
  const Look& before() const { return looks_[looks_.size() < 2 ? 0 : looks_.size() - 2]; }

  std::unordered_map<uint64_t, uint32_t> ids_;   // by the stack's number
  std::vector<LiveProfile> processes_;           // of the last look
  std::vector<std::vector<uint32_t>> site_ids_;  // parallel to them and their sites
  std::vector<LiveFigures> now_;                 // by id
  LiveFigures totals_;
  std::deque<Look> looks_;  // the last one is now
  double rate_ = 0;
  bool has_baseline_ = false;
  std::vector<LiveFigures> baseline_;  // by id
};

}  // namespace memprof
