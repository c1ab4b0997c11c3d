// TreeCaptures: the captures of a program's descendants, and the merge of the whole tree.
//
// Images that ended are read by a thread of its own, one after another: the supervisor's loop never
// waits, since a tracker may be waiting for it. The heaviest get a file of their own; all are in
// the merge.
//
//   Add ─► queue ─► thread: region ─► snapshot ─┬─► file, if it is among the heaviest
//                                               └─► merge of the tree
//
// One that lives may have its file from a checkpoint already; its last capture replaces that.
//
// Thread safety: one owner. Memory: the merge's, and one region's at a time; what is queued holds
// its region.
// Failure: what can't be written is said on stderr, and counted.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/basics/mutex.h"
#include "cli/supervisor/images/image.h"
#include "core/snapshot/snapshot.h"
#include "formats/capture_merger.h"

namespace memprof {

struct TreeCaptureOptions {
  std::string output;  // the program's own capture: "x.memprof" gives "x.4711.memprof" and
                       // "x.all.memprof"
  bool overwrite = false;
  size_t max_files = 64;  // of descendants
};

class TreeCaptures {
 public:
  explicit TreeCaptures(TreeCaptureOptions options) : options_(std::move(options)) {}
  ~TreeCaptures();
  TreeCaptures(const TreeCaptures&) = delete;

  // An image that is over, as it was described; `suffix` names it (".4711"). `read` is called, by
  // any thread, when its region is not needed any more.
  void Add(std::unique_ptr<Image> image, SnapshotProgram program, std::string suffix,
           std::function<void()> read);

  // Writes a file of an image that lives, if it is among the heaviest.
  void Checkpoint(const RegionPlace& region, SnapshotProgram program, RegionHistory history,
                  std::string suffix);
  // All that was added is read, or is being read: a checkpoint would delay nothing.
  bool IsIdle();

  // Waits until all that was added is read, and ends the thread. Another Add starts it again.
  void Settle();

  // All of these: settled.
  size_t images() const { return images_; }  // that were added
  size_t without_capture() const { return failed_; }
  std::vector<std::string> files() const;
  // The merge with these in it, captures that were written; the file's name. Pre: images() != 0.
  // `unseen`: of the whole tree.
  Result<std::string> WriteMerge(const Snapshot* program, const std::vector<std::string>& captures,
                                 const std::vector<Unseen>& unseen);

 private:
  struct File {
    uint64_t peak_bytes;
    std::string name;
    std::string suffix;
    uint64_t run_id;  // of its image
  };
  void Queue(std::function<void()> work);
  void Work();
  void Read(Image& image, const SnapshotProgram& program, const std::string& suffix,
            const std::function<void()>& read);
  Result<void> Write(const Snapshot& snapshot, const std::string& suffix);
  bool MakeRoomFor(uint64_t peak_bytes);
  std::string FreeName(const std::string& suffix) const;

  const TreeCaptureOptions options_;
  std::thread thread_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_ MEMPROF_GUARDED_BY(mutex_);
  bool settling_ MEMPROF_GUARDED_BY(mutex_) = false;
  size_t images_ = 0;

  // The thread's while it runs.
  CaptureMerger merger_;
  std::vector<File> written_;
  size_t failed_ = 0;
  bool checkpoint_failed_ = false;
};

}  // namespace memprof
