// ServedLook: the runs that are served, as they were read at one moment, with names.
//
// Thread safety: several threads may use one; what is made of it is made once, by the first that asks.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/basics/mutex.h"
#include "cli/http/http_server.h"
#include "core/profile/profile.h"
#include "core/snapshot/snapshot.h"
#include "formats/capture/capture_symbols.h"

namespace memprof {

struct ServedProcess {
  pid_t pid = 0;
  std::string program;
  uint64_t rss_bytes = 0;  // 0: not known
  Snapshot snapshot;
  StoredSymbols symbols;  // of the snapshot's frames
  bool all_named = false;
};

struct ServedRunLook {
  pid_t program = 0;  // 0: there was no run yet
  pid_t supervisor = 0;
  std::string capture;
  uint32_t living = 0;  // processes that count
  bool ended = false;   // the figures are those of the end
  std::vector<ServedProcess> processes;
};

class ServedLook {
 public:
  ServedLook(uint64_t number, int64_t time_ns, std::vector<ServedRunLook> runs)
      : number_(number), time_ns_(time_ns), runs_(std::move(runs)) {}

  uint64_t number() const { return number_; }   // ascends from look to look
  int64_t time_ns() const { return time_ns_; }  // since 1970
  const std::vector<ServedRunLook>& runs() const { return runs_; }
  // All processes, or the one of this pid; of the run's captures or not.
  std::vector<const ServedProcess*> Processes(pid_t only) const;

  // With names, in the order of Processes.
  std::vector<Profile> Profiles(pid_t only) const;
  // A capture of them together, with names. Pre: there is a process.
  Result<std::string> Capture(pid_t only) const;
  // The same as a profile, a merge if they are several. Pre: there is a process.
  Result<Profile> Merged(pid_t only) const;

  // What `make` gave for this key before, or gives now.
  HttpBody Once(const std::string& key, const std::function<HttpBody()>& make) const;
  // How long all of that took.
  std::chrono::nanoseconds cost() const { return std::chrono::nanoseconds(cost_ns_.load()); }

 private:
  const uint64_t number_;
  const int64_t time_ns_;
  const std::vector<ServedRunLook> runs_;
  mutable std::atomic<int64_t> cost_ns_ = 0;
  mutable Mutex mutex_;
  mutable std::map<std::string, HttpBody> made_ MEMPROF_GUARDED_BY(mutex_);
};

}  // namespace memprof
