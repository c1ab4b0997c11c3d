// TreeCaptures: the captures of a program's descendants, and the merge of the whole tree.
//
// A thread reads the images that ended, one after another: the supervisor's loop never waits, since
// a tracker may be waiting for it. While the run goes on, the heaviest images have a file
// of their own, so that a kill of the supervisor leaves them. All are in the merge, which replaces
// these files at the end, except for as many as were asked for.
//
//   Add ─► queue ─► thread: region ─► snapshot ─┬─► file, if it is among the heaviest
//                                               └─► merge of the tree
//
// If no thread can be started, the loop does its work.
//
// A living image may have a file from a checkpoint; its last capture replaces that.
//
// Thread safety: one owner. Memory: the merge's, and one region's at a time; a queued image holds
// its region.
// Failure: what can't be written is reported on stderr, and counted.
#pragma once

#include <algorithm>
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
#include "core/snapshot/canonical_snapshot.h"
#include "formats/capture/capture_merger.h"

namespace memprof {

struct TreeCaptureOptions {
  std::string output;  // the program's own capture: "x.memprof" gives "x.4711.memprof" and
                       // "x.all.memprof"
  bool overwrite = false;
  size_t kept_files = 0;  // of descendants and earlier images, beside the merge
};

class TreeCaptures {
 public:
  explicit TreeCaptures(TreeCaptureOptions options) : options_(std::move(options)) {}
  ~TreeCaptures();
  TreeCaptures(const TreeCaptures&) = delete;

  // Adds an image that is over. `suffix` names its file (".4711"). `read` is called, by any thread,
  // when its region is not needed any more.
  void Add(std::unique_ptr<Image> image, SnapshotProgram program, std::string suffix,
           std::function<void()> read);

  // Writes the file of a living image, if it is among the heaviest.
  void Checkpoint(const RegionPlace& region, SnapshotProgram program, RegionHistory history,
                  std::string suffix);
  // True if everything that was added is read, or being read: a checkpoint would delay nothing.
  bool IsIdle();

  // Waits until everything that was added is read, and ends the thread. Another Add starts it
  // again.
  void Settle();

  // Precondition of the following: settled.
  size_t images() const { return images_; }  // number of images that were added
  size_t without_capture() const { return failed_; }
  std::vector<std::string> files() const;  // after WriteMerge the heaviest first
  // How many files there may be while the run goes on.
  size_t max_files() const { return std::max<size_t>(options_.kept_files, kWorkingFiles); }
  // Writes the merge, together with these `captures`, which must be written already; returns its
  // file's name. Removes all files except the heaviest that are to be kept, and those of `captures`
  // with named moments, which a merge hasn't. Pre: images() != 0 or there are captures. `unseen` is that of the whole tree.
  Result<std::string> WriteMerge(const Snapshot* program, const std::vector<std::string>& captures,
                                 const std::vector<Unseen>& unseen);

 private:
  static constexpr size_t kWorkingFiles = 64;
  struct File {
    uint64_t peak_bytes;
    std::string name;
    std::string suffix;
    uint64_t run_id;  // of its image
  };
  void Queue(std::function<void()> work);
  void Work();
  bool WorkOnNext();  // false: the queue is empty
  void Read(Image& image, const SnapshotProgram& program, const std::string& suffix,
            const std::function<void()>& read);
  Result<void> Write(const CanonicalSnapshot& snapshot, const std::string& suffix);
  void KeepHeaviest();
  bool MakeRoomFor(uint64_t peak_bytes);
  std::string FreeName(const std::string& suffix) const;

  const TreeCaptureOptions options_;
  std::thread thread_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_ MEMPROF_GUARDED_BY(mutex_);
  bool settling_ MEMPROF_GUARDED_BY(mutex_) = false;
  size_t images_ = 0;

  // Owned by the thread while it runs.
  CaptureMerger merger_;
  std::vector<File> written_;
  size_t failed_ = 0;
  bool checkpoint_failed_ = false;
};

}  // namespace memprof
