// LiveTable: what changes from look to look in a program that runs. A row is a place, a function, a
// module, a thread or a process; processes of a run are summed.
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

#include <chrono>
#include <compare>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/count.h"
#include "core/profile/profile.h"

namespace memprof {

enum class LiveBy : uint8_t { kPlace, kFunction, kModule, kThread, kProcess };
inline constexpr LiveBy kAllLiveBys[] = {LiveBy::kPlace, LiveBy::kFunction, LiveBy::kModule,
                                         LiveBy::kThread, LiveBy::kProcess};
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
  auto operator<=>(const LiveKey&) const = default;
};

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
// Numbers the stacks of a snapshot, by addresses and the process.
std::vector<uint64_t> NumberStacks(const Snapshot& snapshot);

class LiveTable {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void Add(Time time, std::vector<LiveProfile> processes);

  // The rows of the last look.
  std::vector<LiveRow> Rows(const LiveView& view) const;
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
  struct Sum;

  std::unordered_map<uint64_t, uint32_t> ids_;   // by the stack's number
  std::vector<LiveProfile> processes_;           // of the last look
  std::vector<std::vector<uint32_t>> site_ids_;  // parallel to them and their sites
  std::vector<LiveFigures> now_;                 // by id
  LiveFigures totals_;
  std::deque<Look> looks_;  // the last one is now
  double rate_ = 0;
  bool has_baseline_ = false;
  std::vector<LiveFigures> baseline_;  // by id
  LiveFigures baseline_totals_;
};

}  // namespace memprof
