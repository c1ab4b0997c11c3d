// RunSnapshots: who asks for snapshots of a run, and how each gets its outcome.
//
//   --snapshot-every, --snapshot-at-rss   SnapshotSchedule
//   --snapshot-on SIGNAL                  a signal to memprof, which is then not forwarded
//   memprof snapshot                      ControlSocket; answered when the capture has it
//        └─► the image's SnapshotTaker, for the run's capture; or, with --snapshot-files, a
//            capture of its own
//
// Thread safety: one owner, the supervisor's loop. Failure: answered or said on stderr.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/images/checkpoint_writer.h"
#include "cli/supervisor/images/executed_images.h"
#include "cli/supervisor/images/image.h"
#include "cli/supervisor/images/snapshot_schedule.h"

namespace memprof {

struct SnapshotOptions {
  int signal = 0;  // 0: none
  SnapshotScheduleOptions schedule;
  std::string files;    // a pattern of names with %s; empty: they go to the run's capture
  std::string program;  // %n of `files`
  bool overwrite = false;
};

class RunSnapshots {
 public:
  // `output` and `region` are the run's files; `checkpoints`: the capture is written while it runs.
  RunSnapshots(SnapshotOptions options, ControlSocket& control, const std::string& output,
               const std::string& region, bool checkpoints, pid_t program);
  RunSnapshots(const RunSnapshots&) = delete;
  ~RunSnapshots();

  int fd() const { return control_.fd(); }
  bool IsOurs(int signal) const { return signal == options_.signal; }

  // Pre of all: `image` is the one that runs, or null.
  void OnSignal(Image* image);
  void OnRequests(Image* image);
  void OnTick(Image* image);
  // Who asked to have the process let go, since the last time: descriptors to be answered.
  std::vector<int> TakeDetachRequests() { return std::exchange(detach_requests_, {}); }
  // Takes what is due. True: the capture is to be written soon, since somebody waits for it.
  bool Look(Image* image);
  // Somebody waits for what a tick does.
  bool AreAwaited() const {
    return !waiting_.empty() || !in_checkpoint_.empty() || !writing_.empty() || !executed_.empty();
  }
  std::chrono::steady_clock::time_point NextLook(const Image* image) const;

  // The image ends: all that was asked for is taken before its capture is written.
  void FinishImage(Image& image);
  // The image has ended by an exec: who waits is told when `file`, its capture, is written; empty:
  // it gets none. Pre: FinishImage.
  void ImageExecuted(const std::string& file);
  // Tells those whose captures are written, or never will be.
  void AnswerExecuted(const ExecutedImages& images);
  void CheckpointStarts();
  void CheckpointEnds(bool written);
  // The run's capture is there, or never will be.
  void Finish();

 private:
  struct Answer {
    int fd;
    ControlReply reply;
  };
  struct Writing {
    std::string file;
    int answer_fd;
    ControlReply reply;
    CheckpointWriter writer;
  };

  bool IsMine(const ControlRequest& request) const;
  void Ask(Image& image, SnapshotRequest request);
  // `until_written`: who waits is told when a capture has it.
  void Handle(const std::vector<SnapshotTaker::Outcome>& outcomes, bool until_written);
  void WriteFile(Image& image, const SnapshotRequest& request);
  void CollectFiles(bool wait);
  static void AnswerAll(std::vector<Answer>& answers);

  SnapshotOptions options_;
  ControlSocket& control_;
  const std::string output_;
  const std::string region_;
  const bool checkpoints_;
  const pid_t program_;
  SnapshotSchedule schedule_;
  const Image* scheduled_ = nullptr;  // whose schedule it is
  std::vector<Answer> waiting_;       // for a checkpoint to start
  std::vector<Answer> in_checkpoint_;
  std::vector<Answer> executed_;  // for the capture that their text names
  std::list<Writing> writing_;
  bool refusal_said_ = false;
  std::vector<int> detach_requests_;
};

}  // namespace memprof
