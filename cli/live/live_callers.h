// LiveCallers: what is behind a row of a LiveTable: who called there, or what was called from there, one
// step at a time.
//
//   by place, callers              inclusive, callees
//   5 MiB  alloc   pool.c:9        5 MiB  main   main.c:3
//   4 MiB    Load  load.c:7        1 MiB    [own]
//   1 MiB    main  main.c:3        4 MiB    Load  load.c:7
//
// A path is the row's key, and the keys of the steps from it. Behind a module, a thread or a process are
// the places where it allocates, and their callers; or, to the callees, the functions in which its stacks
// begin. Only frames of the program and its libraries are steps.
//
// Invariant: the steps behind a path sum to it. Those whose stack ends there are in a step of their own,
// "[outermost]" or "[own]", unless all are.
// Thread safety: none. The table must not change meanwhile. Memory: a word for each frame of the stacks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cli/live/live_table.h"

namespace memprof {

class LiveCallers {
 public:
  using Path = std::vector<LiveKey>;

  // `callees`: steps lead to what is called.
  LiveCallers(const LiveTable& table, const LiveView& view, bool callees);

  struct Step : LiveRow {
    bool has_behind = false;  // Behind of the path that ends with it isn't empty
  };
  // In the view's order; empty: nothing is behind it.
  std::vector<Step> Behind(const Path& path) const;
  // For each of the table's rows, whether something is behind it.
  std::vector<bool> HaveBehind(const std::vector<LiveRow>& rows) const;

  static bool IsEnd(const LiveKey& key);

 private:
  // A site's stack as numbers of keys, the innermost frame first.
  struct Stack {
    LiveSite site;
    size_t own = 0;  // the frame that names the site's row
    std::vector<uint32_t> keys;
  };

  uint32_t Number(const LiveKey& key);
  std::optional<uint32_t> NumberOf(const LiveKey& key) const;
  Stack StackOf(uint32_t process, uint32_t site, const std::vector<uint32_t>& numbers,
                const std::vector<bool>& of_program) const;
  // The index of the frame that comes first behind the row; nullopt: the site isn't in the row.
  std::optional<long> FirstBehind(const LiveKey& row, const Stack& stack) const;
  // The same for a stack that is in a row which isn't a frame's.
  long FirstBehindGroup(const Stack& stack) const;
  bool IsThere(const Stack& stack, long at) const;
  bool IsOfFrames() const { return view_.by == LiveBy::kPlace || view_.by == LiveBy::kFunction; }

  const LiveTable& table_;
  const LiveView view_;
  const bool callees_;
  std::vector<LiveKey> keys_;  // by number
  std::map<LiveKey, uint32_t> numbers_;
  std::vector<Stack> stacks_;
};

}  // namespace memprof
