// ExecutedImages: the program's images that ended by an exec. Their captures are written in
// threads, because in a chain of execs the next tracker is already waiting.
//
// Thread safety: none; each capture is written by a thread of its own.
// Memory: an image's region lives until its capture is written. There are at most
// kMaxExecutedImages captures: a program that executes itself for ever must not fill the directory.
// Failure: reported on stderr.
#pragma once

#include <algorithm>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/images/checkpoint_writer.h"
#include "cli/supervisor/images/image.h"

namespace memprof {

inline constexpr int kMaxExecutedImages = 64;

class ExecutedImages {
 public:
  // `output` is the last image's capture; the others' are "STEM.exec1", ….
  ExecutedImages(std::string output, bool overwrite)
      : output_(std::move(output)), overwrite_(overwrite) {}

  // Pre: a tracker counted in it. Returns the capture's file, which is being written; empty: it
  // gets none.
  std::string Add(Image& image);
  template <typename IsFile>
  bool IsWriting(IsFile is_file) const {
    return std::any_of(writing_.begin(), writing_.end(),
                       [&](const Writing& writing) { return is_file(writing.file); });
  }

  // Releases the images whose captures are written.
  void Collect();
  // Waits for all.
  void Finish();

  int count() const { return count_; }
  int without_capture() const { return without_capture_; }
  // The files that were written.
  const std::vector<std::string>& captures() const { return captures_; }

 private:
  struct Writing {
    std::string program;
    std::string file;
    CheckpointWriter writer;
  };

  std::string NextName();
  void FinishOne(Writing& writing);

  std::string output_;
  bool overwrite_;
  std::list<Writing> writing_;
  int number_ = 0;  // the number in the newest name
  int count_ = 0;
  int without_capture_ = 0;
  std::vector<std::string> captures_;
};

}  // namespace memprof
