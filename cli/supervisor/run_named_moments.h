// RunNamedMoments: collects the requests for named moments of a run, and delivers their outcomes.
//
//   --snapshot-every, --snapshot-at-rss   NamedMomentSchedule
//   --snapshot-on SIGNAL                  a signal to memprof, which is then not forwarded
//   memprof snapshot                      ControlSocket; answered when the capture has it
//                                         (other requests there are passed on)
//        └─► the image's NamedMomentTaker, for the run's capture; or, with --snapshot-files, a
//            capture of its own
//
// Thread safety: one owner, the supervisor's loop. Failure: answered, or reported on stderr.
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
#include "cli/supervisor/images/named_moment_schedule.h"
#include "core/result.h"

namespace memprof {

struct NamedMomentOptions {
  int signal = 0;  // 0: none
  NamedMomentScheduleOptions schedule;
  std::string files;    // a pattern of names with %s; empty: named moments go to the run's capture
  std::string program;  // the value of %n in `files`
  bool overwrite = false;
};

class RunNamedMoments {
 public:
  // `output` and `region` are the run's files. `checkpoints`: the capture is written during the
  // run.
  RunNamedMoments(NamedMomentOptions options, ControlSocket& control, const std::string& output,
                  const std::string& region, bool checkpoints, pid_t program);
  RunNamedMoments(const RunNamedMoments&) = delete;
  ~RunNamedMoments();

  int fd() const { return control_.fd(); }
  bool IsOurs(int signal) const { return signal == options_.signal; }

  // Precondition of all: `image` is the running one, or null.
  void OnSignal(Image* image);
  void OnRequests(Image* image);
  void OnTick(Image* image);
  // The descriptors of the askers for a detach since the last call; they have to be answered.
  std::vector<int> TakeDetachRequests() { return std::exchange(detach_requests_, {}); }
  // Likewise of those that want to be shown the run.
  std::vector<int> TakeShowRequests() { return std::exchange(show_requests_, {}); }
  // Takes the named moments that are due. True: somebody waits for one, so the capture should be
  // written soon.
  bool Look(Image* image);
  // True if somebody waits for the next tick.
  bool AreAwaited() const {
    return !waiting_.empty() || !in_checkpoint_.empty() || !writing_.empty() || !executed_.empty();
  }
  std::chrono::steady_clock::time_point NextLook(const Image* image) const;

  // The image ends: takes all requested named moments before its capture is written.
  void FinishImage(Image& image);
  // The image has ended by an exec. Requesters are answered when its capture `file` is written;
  // empty: it gets none. Pre: FinishImage.
  void ImageExecuted(const std::string& file);
  // Answers the requesters whose captures are written, or never will be.
  void AnswerExecuted(const ExecutedImages& images);
  void CheckpointStarts();
  void CheckpointEnds(bool written);
  // Answers the rest: the run's capture is written, or never will be.
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
  void Ask(Image& image, NamedMomentRequest request);
  // `until_written`: requesters are answered only when a capture has the named moment.
  void Handle(const std::vector<NamedMomentTaker::Outcome>& outcomes, bool until_written);
  Result<void> CheckFile(const std::string& file) const;
  void WriteFile(Image& image, const NamedMomentRequest& request);
  void CollectFiles(bool wait);
  static void AnswerAll(std::vector<Answer>& answers);

  NamedMomentOptions options_;
  ControlSocket& control_;
  const std::string output_;
  const std::string region_;
  const bool checkpoints_;
  const pid_t program_;
  NamedMomentSchedule schedule_;
  const Image* scheduled_ = nullptr;  // the image that the schedule belongs to
  std::vector<Answer> waiting_;       // for a checkpoint to start
  std::vector<Answer> in_checkpoint_;
  std::vector<Answer> executed_;  // for the capture named in their text
  std::list<Writing> writing_;
  bool refusal_said_ = false;
  std::vector<int> detach_requests_, show_requests_;
};

}  // namespace memprof
