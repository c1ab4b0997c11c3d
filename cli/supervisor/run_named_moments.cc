#include "cli/supervisor/run_named_moments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cli/basics/message.h"
#include "cli/basics/output_name.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kWhileReading{1};

ControlReply Failed(const std::string& why) {
  ControlReply reply;
  reply.status = ControlStatus::kFailed;
  SetText(reply.text, why);
  return reply;
}

ControlReply Taken(const std::string& name, uint64_t time_ms, const std::string& file) {
  ControlReply reply;
  reply.status = ControlStatus::kTaken;
  reply.time_ms = time_ms;
  SetText(reply.name, name);
  SetText(reply.text, file);
  return reply;
}

}  // namespace

RunNamedMoments::RunNamedMoments(NamedMomentOptions options, ControlSocket& control,
                                 const std::string& output, const std::string& region,
                                 bool checkpoints, pid_t program)
    : options_(std::move(options)),
      control_(control),
      output_(CanonicalName(output)),
      region_(CanonicalName(region)),
      checkpoints_(checkpoints),
      program_(program),
      schedule_(options_.schedule) {}

RunNamedMoments::~RunNamedMoments() { Finish(); }

bool RunNamedMoments::IsMine(const ControlRequest& request) const {
  const std::string capture = TextOf(request.capture);
  if (request.action == ControlAction::kShow && request.pid == 0 && capture.empty()) return true;
  if (request.pid != 0) {
    const auto pid = static_cast<pid_t>(request.pid);
    return pid == program_ || pid == getpid();
  }
  return capture == output_ || (!region_.empty() && capture == region_);
}

void RunNamedMoments::OnRequests(Image* image) {
  while (const auto visitor = control_.Accept()) {
    if (!IsMine(visitor->request)) {
      ControlSocket::Answer(visitor->fd, {});
    } else if (!ControlSocket::Promise(visitor->fd)) {
      continue;  // the asker didn't wait
    } else if (visitor->request.action == ControlAction::kDetach) {
      detach_requests_.push_back(visitor->fd);
    } else if (visitor->request.action == ControlAction::kShow) {
      show_requests_.push_back(visitor->fd);
    } else if (image == nullptr || !image->Attached()) {
      ControlSocket::Answer(visitor->fd,
                            Failed("no tracker has connected yet: nothing is counted"));
    } else {
      Ask(*image, {TextOf(visitor->request.name), false, visitor->fd});
    }
  }
}

void RunNamedMoments::OnSignal(Image* image) {
  if (image != nullptr) Ask(*image, {});
}

void RunNamedMoments::Ask(Image& image, NamedMomentRequest request) {
  if (options_.files.empty()) {
    image.named_moments().Ask(std::move(request));
  } else {
    WriteFile(image, request);
  }
}

void RunNamedMoments::OnTick(Image* image) {
  CollectFiles(false);
  if (image == nullptr || options_.schedule.at_rss_bytes == 0) return;
  if (scheduled_ != image) return;  // the next Look begins its schedule
  for (const std::string& name : schedule_.Due(image->NowMs(), image->ResidentBytes())) {
    Ask(*image, {name, true, -1});
  }
}

bool RunNamedMoments::Look(Image* image) {
  if (image == nullptr || !image->Attached()) return false;
  if (scheduled_ != image) {
    schedule_ = NamedMomentSchedule(options_.schedule);
    scheduled_ = image;
  }
  for (const std::string& name : schedule_.Due(image->NowMs(), std::nullopt)) {
    Ask(*image, {name, true, -1});
  }
  Handle(image->named_moments().Collect(false), checkpoints_);
  return !waiting_.empty();
}

steady_clock::time_point RunNamedMoments::NextLook(const Image* image) const {
  // Look does nothing for it, so due named moments stay due.
  if (image == nullptr || !image->Attached()) return steady_clock::time_point::max();
  if (image->named_moments().Busy()) return steady_clock::now() + kWhileReading;
  const auto due = schedule_.NextMs();
  return due ? image->start() + milliseconds(*due) : steady_clock::time_point::max();
}

void RunNamedMoments::Handle(const std::vector<NamedMomentTaker::Outcome>& outcomes,
                             bool until_written) {
  for (const auto& [request, taken] : outcomes) {
    if (!taken && request.answer_fd < 0) {
      if (!refusal_said_) Say("no snapshot: {}", taken.error().message);
      refusal_said_ = true;
      continue;
    }
    if (request.answer_fd < 0) continue;
    if (!taken) {
      ControlSocket::Answer(request.answer_fd, Failed(taken.error().message));
      continue;
    }
    ControlReply reply = Taken(taken->name, taken->time_ms, output_);
    if (until_written) {
      waiting_.push_back({request.answer_fd, reply});
    } else {
      reply.place = ControlPlace::kAtEnd;
      ControlSocket::Answer(request.answer_fd, reply);
    }
  }
}

// The name may come from whoever takes a snapshot.
Result<void> RunNamedMoments::CheckFile(const std::string& file) const {
  constexpr std::string_view kOption = "--snapshot-files";
  if (file == output_ || file == region_ || file == InsertBeforeExtension(output_, ".all")) {
    return Fail(ErrorKind::kExists,
                fmt::format("{} is a file of the run itself; take another name", file));
  }
  if (auto fine = CheckOutput(file, kOption, options_.overwrite); !fine) return fine;
  return CheckOverwritten(file, kOption);
}

// Writes a capture of the current figures, without other named moments.
void RunNamedMoments::WriteFile(Image& image, const NamedMomentRequest& request) {
  const SnapshotProgram program = image.Describe(EndKind::kRunning, 0);
  const std::string name =
      MomentName(request.name.empty() ? NameOfTime(image.NowMs()) : request.name, {});
  const std::string file =
      CanonicalName(ExpandName(options_.files, options_.program, program_, &name));
  if (const auto fine = CheckFile(file); !fine) {
    if (request.answer_fd >= 0) {
      ControlSocket::Answer(request.answer_fd, Failed(fine.error().message));
    } else {
      Say("no snapshot: {}", fine.error().message);
    }
    return;
  }
  Writing& writing = writing_.emplace_back();
  writing.file = file;
  writing.answer_fd = request.answer_fd;
  writing.reply = Taken(name, program.duration_ms, file);
  writing.reply.place = ControlPlace::kCaptureOfOwn;
  writing.writer.Start(file, image.region(), program, image.History(EndKind::kRunning));
}

void RunNamedMoments::CollectFiles(bool wait) {
  std::erase_if(writing_, [wait](Writing& writing) {
    if (!wait && writing.writer.Busy()) return false;
    const auto written = writing.writer.Finish();
    if (writing.answer_fd >= 0) {
      ControlSocket::Answer(writing.answer_fd,
                            written ? writing.reply : Failed(written.error().message));
    } else if (!written) {
      Say("no snapshot: {}", written.error().message);
    }
    return true;
  });
}

void RunNamedMoments::FinishImage(Image& image) {
  Handle(image.named_moments().Collect(true), true);
}

// A checkpoint that has them will soon be overwritten by one of the next image.
void RunNamedMoments::ImageExecuted(const std::string& file) {
  for (std::vector<Answer>* answers : {&in_checkpoint_, &waiting_}) {
    for (Answer& answer : *answers) {
      SetText(answer.reply.text, CanonicalName(file));
      executed_.push_back(answer);
    }
    answers->clear();
  }
}

void RunNamedMoments::AnswerExecuted(const ExecutedImages& images) {
  std::erase_if(executed_, [&](const Answer& answer) {
    const std::string file = TextOf(answer.reply.text);
    const auto is_file = [&](const std::string& name) { return CanonicalName(name) == file; };
    if (images.IsWriting(is_file)) return false;
    const auto& captures = images.captures();
    const bool written = std::any_of(captures.begin(), captures.end(), is_file);
    ControlSocket::Answer(answer.fd, written ? answer.reply
                                             : Failed("the program has executed another, and there "
                                                      "is no capture of it from before that"));
    return true;
  });
}

void RunNamedMoments::CheckpointStarts() {
  in_checkpoint_.insert(in_checkpoint_.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
}

void RunNamedMoments::CheckpointEnds(bool written) {
  for (Answer& answer : in_checkpoint_) {
    if (!written) answer.reply.place = ControlPlace::kAtEnd;
  }
  AnswerAll(in_checkpoint_);
}

void RunNamedMoments::Finish() {
  CollectFiles(true);
  AnswerAll(in_checkpoint_);
  AnswerAll(waiting_);
  AnswerAll(executed_);
}

void RunNamedMoments::AnswerAll(std::vector<Answer>& answers) {
  for (const Answer& answer : answers) ControlSocket::Answer(answer.fd, answer.reply);
  answers.clear();
}

}  // namespace memprof
