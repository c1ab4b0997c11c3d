// LiveSession: a viewer's state: the run, its looks, and the names found so far.
//
// Thread safety: one owner; names are found by a thread of LiveNames.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "cli/live/live_names.h"
#include "cli/live/live_source.h"
#include "cli/live/live_table.h"
#include "core/snapshot/history.h"

namespace memprof {

class LiveSession {
 public:
  explicit LiveSession(FoundRun found);

  // Reads the run anew. With `wait` the look has all names.
  void Look(bool wait = false);
  // Only this process from now on; 0: the whole tree. The past of the others stays.
  void ShowProcess(pid_t pid) { pid_ = pid; }
  pid_t process() const { return pid_; }

  const LiveTable& table() const { return table_; }
  LiveTable& table() { return table_; }
  const ShownRun& run() const { return source_.run(); }
  const std::string& program() const { return program_; }
  bool ended() const { return ended_; }
  // Why the figures stand still; empty: they don't.
  const std::string& trouble() const { return trouble_; }
  uint64_t rss_bytes() const { return rss_bytes_; }  // of the shown processes; 0: not known
  uint64_t running_ms() const { return running_ms_; }
  // Heap and RSS at the looks; at most kMostPoints of them.
  const Timeline& timeline() const { return timeline_; }

  std::string TakeMoment(const std::string& name) { return source_.TakeMoment(name); }

 private:
  void AddPoint(uint64_t heap_bytes);

  const bool served_;
  LiveSource source_;
  LiveNames names_;
  LiveTable table_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string program_;
  pid_t pid_ = 0;
  bool ended_ = false;
  std::string trouble_;
  uint64_t rss_bytes_ = 0;
  uint64_t running_ms_ = 0;
  Timeline timeline_;
};

}  // namespace memprof
