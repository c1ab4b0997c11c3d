// LiveSession: a viewer's state: the run, its looks, and the names found so far.
//
// Thread safety: one owner; names are found by a thread of LiveNames.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/live/live_names.h"
#include "cli/live/live_source.h"
#include "cli/live/live_table.h"
#include "core/snapshot/canonical_snapshot.h"
#include "core/snapshot/history.h"

namespace memprof {

class LiveSession {
 public:
  explicit LiveSession(FoundRun found);

  // Reads the run anew. With `wait` the look has all names.
  void Look(bool wait = false);
  // Puts names that were found meanwhile into the look. True: there were some.
  bool UpdateNames();
  bool NamesAreWanted() { return names_.AreWanted(); }
  // Only this process from now on; 0: the whole tree. The past of the others stays.
  void ShowProcess(pid_t pid) { pid_ = pid; }
  pid_t process() const { return pid_; }

  const LiveTable& table() const { return table_; }
  LiveTable& table() { return table_; }
  const ShownRun& run() const { return source_.run(); }
  const std::string& program() const { return program_; }
  bool ended() const { return ended_; }
  bool silent() const { return silent_; }            // its supervisor doesn't answer
  uint64_t rss_bytes() const { return rss_bytes_; }  // of the shown processes; 0: not known
  uint64_t running_ms() const { return running_ms_; }
  // Heap and RSS at the looks; at most kMostPoints of them.
  const Timeline& timeline() const { return timeline_; }

  // The look as one capture, its processes merged; nullopt: nothing counts yet.
  std::optional<CanonicalSnapshot> Capture() const;
  // The same with the names that are known.
  std::optional<Profile> Merged();

  std::string TakeMoment(const std::string& name) { return source_.TakeMoment(name); }

 private:
  std::vector<LiveProfile> Named();
  void AddPoint(uint64_t heap_bytes);

  LiveSource source_;
  LiveNames names_;
  LiveTable table_;
  std::vector<CanonicalSnapshot> look_;  // what the table's last look was made from
  uint64_t names_found_ = 0;             // when its names were asked for
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string program_;
  pid_t pid_ = 0;
  bool ended_ = false;
  bool silent_ = false;
  uint64_t rss_bytes_ = 0;
  uint64_t running_ms_ = 0;
  Timeline timeline_;
};

}  // namespace memprof
