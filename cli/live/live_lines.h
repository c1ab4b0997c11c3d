// LiveLines: the lines of the interactive view without a terminal: a table's rows, and behind those that
// the reader opened their callers or callees, at any depth.
//
//   ▾ alloc     pool.c:9
//     ▾ Load    load.c:7
//       ▸ main  main.c:3
//   ▸ Parse     parse.c:2
//
// What is open, and the line of the cursor, stay from look to look, by keys.
// Invariant: the cursor is on a line if there is one.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "cli/live/live_callers.h"
#include "cli/live/live_table.h"

namespace memprof {

class LiveLines {
 public:
  struct Line {
    LiveRow row;
    LiveCallers::Path path;  // the row's own key is the last one
    bool can_open = false;
    bool is_open = false;
  };

  // The lines of the table as it is now.
  void Update(const LiveTable& table, const LiveView& view);

  const std::vector<Line>& lines() const { return lines_; }
  size_t cursor() const { return cursor_; }
  bool callees() const { return callees_; }

  void MoveTo(size_t line);  // the last one if there are fewer
  void MoveBy(long lines);

  // These change what is open; the lines show it after the next Update.
  void Toggle();  // opens also what is behind, as long as there is only one step
  void Open();    // if it is open: moves down to its first line
  void Close();   // if it is closed: moves up to the line that it is behind
  void Turn();    // from callers to callees, or back; all are closed
  void CloseAll() { open_.clear(); }

  // Moves to the next line, or to the one before, whose name, place, module or callers contain a text,
  // ignoring case; from the end it goes on at the beginning. False: there is none.
  bool Find(const std::string& text, bool backwards);

 private:
  void AddBehind(const LiveCallers& callers, size_t line, size_t single_steps);

  bool callees_ = false;
  std::set<LiveCallers::Path> open_;
  LiveCallers::Path opened_;  // just now: empty: none
  std::vector<Line> lines_;
  size_t cursor_ = 0;
};

}  // namespace memprof
