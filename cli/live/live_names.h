// LiveNames: names of a running program's frames as far as they are known, without waiting: a frame is
// "module+0xoffset" at first, and has its name once a thread of this class has found it. A frame is
// looked for once.
//
// Thread safety: one owner; its thread only works on what it was given. Failure: as Symbolizer. If there
// can be no thread, the owner finds the names itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/basics/mutex.h"
#include "core/symbolizer/symbolizer.h"

namespace memprof {

class LiveNames : public Symbolizer {
 public:
  // `finds` is used by the thread alone.
  explicit LiveNames(std::unique_ptr<Symbolizer> finds);
  ~LiveNames() override;

  std::vector<SourceChain> Resolve(std::span<const SnapshotModule> modules,
                                   std::span<const SnapshotFrame> frames) override;
  const std::vector<std::string>& notes() const override { return notes_; }

  // As Resolve, but the chain of a frame whose name isn't found yet is empty.
  std::vector<SourceChain> Found(std::span<const SnapshotModule> modules,
                                 std::span<const SnapshotFrame> frames);
  // The names of these frames, of files that are on another machine: they aren't looked for here.
  // `chains` is parallel to `frames`, or empty; an empty chain is of a frame without a name.
  void Learn(std::span<const SnapshotModule> modules, std::span<const SnapshotFrame> frames,
             const std::vector<SourceChain>& chains);
  // Waits until all names that were asked for are known. False: they aren't at that time.
  bool Wait(
      std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max());
  // Grows when names are found: what Resolve gave before may have better ones now.
  uint64_t found();
  bool AreWanted();  // some are not known yet

 private:
  using Key = std::pair<SnapshotModule, uint64_t>;  // no module: an empty path
  struct Before {
    bool operator()(const Key& a, const Key& b) const;
  };

  void Find();  // the thread
  static Key KeyOf(std::span<const SnapshotModule> modules, const SnapshotFrame& frame);
  static SourceChain Placeholder(const Key& key);

  const std::unique_ptr<Symbolizer> finds_;
  const std::vector<std::string> notes_;  // a live view has no room for notes
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::map<Key, SourceChain, Before> known_ MEMPROF_GUARDED_BY(mutex_);  // empty chain: wanted
  std::vector<Key> wanted_ MEMPROF_GUARDED_BY(mutex_);
  uint64_t found_ MEMPROF_GUARDED_BY(mutex_) = 0;
  bool busy_ MEMPROF_GUARDED_BY(mutex_) = false;
  bool ending_ MEMPROF_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace memprof
