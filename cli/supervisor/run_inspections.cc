#include "cli/supervisor/run_inspections.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "cli/basics/message.h"
#include "core/region/region_named_moments.h"
#include "core/region/region_reader.h"
#include "core/write_all.h"
#include "formats/capture/inspection_section.h"

namespace memprof {
namespace {

using std::chrono::steady_clock;

// Looks at a growing program take a small part of its time.
constexpr int kTimesBetween = 20;
constexpr uint64_t kLeastGrowth = 8 << 20;
constexpr uint32_t kFirstBeat = 16;

// The first byte of an answer.
constexpr char kFound = 'f';
constexpr char kFailed = 'e';

std::string AnswerOf(const InspectProcess& inspect, const ShownProcess& process, bool at_exit) {
  try {
    const auto found = inspect(process, at_exit);
    return found ? kFound + EncodeInspection(*found) : kFailed + found.error().message;
  } catch (const std::bad_alloc&) {
    return kFailed + std::string("out of memory");
  }
}

uint32_t ExitLookOf(const Image& image) {
  return ReadHeaderWord(image.region(), offsetof(RegionHeader, exit_look));
}

}  // namespace

RunInspections::RunInspections(RunInspectionOptions options) : options_(std::move(options)) {}

void RunInspections::OnSignal(Image* image) {
  if (image != nullptr && image->Attached()) Ask(*image, Cause::kSignal);
}

void RunInspections::OnTick(Image* image) {
  if (!options_.inspect || image == nullptr || !image->Attached()) return;
  if (image_ != image) {
    image_ = image;
    at_rss_ = 0;
    names_ = 0;
    exit_answered_ = false;
    beat_ = kFirstBeat;
    not_before_ = {};
  }
  if (image->replaced()) {
    Stop();
    return;
  }
  if (options_.at_exit && !exit_answered_ && running_ != Cause::kExit &&
      ExitLookOf(*image) == kExitLookAsked) {
    Ask(*image, Cause::kExit);
  }
  if (HasNewName(*image)) Ask(*image, Cause::kName);
  if (HasNewPeak(*image)) Ask(*image, Cause::kPeak);
  if (running_ == Cause::kExit || asked_ == Cause::kExit) TellProgram(*image, beat_++);
}

bool RunInspections::HasNewPeak(const Image& image) {
  if (!options_.at_peak_rss || running_ != Cause::kNone) return false;
  if (steady_clock::now() < not_before_) return false;
  const uint64_t rss = image.ResidentBytes().value_or(0);
  return rss > at_rss_ + std::max(at_rss_ / 4, kLeastGrowth);
}

bool RunInspections::HasNewName(const Image& image) {
  if (options_.names.empty()) return false;
  std::vector<std::string> names = image.named_moments().Names();
  const std::vector<std::string> programs = NamesOfProgram(image.region());
  names.insert(names.end(), programs.begin(), programs.end());
  const auto wanted = static_cast<size_t>(
      std::count_if(names.begin(), names.end(), [this](const std::string& name) {
        return std::find(options_.names.begin(), options_.names.end(), name) !=
               options_.names.end();
      }));
  return wanted > std::exchange(names_, wanted);
}

void RunInspections::Ask(Image& image, Cause cause) {
  if (asked_ != Cause::kExit) asked_ = cause;
  if (running_ == Cause::kNone) Start(image);
}

void RunInspections::Start(Image& image) {
  running_ = std::exchange(asked_, Cause::kNone);
  at_rss_ = std::max(at_rss_, image.ResidentBytes().value_or(0));
  began_ = steady_clock::now();
  received_.clear();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    Say("not inspected: {}", strerror(errno));
    running_ = Cause::kNone;
    return;
  }
  ScopedFd reading(ends[0]), writing(ends[1]);
  const pid_t supervisor = getpid();
  looker_ = fork();
  if (looker_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(0);
    reading.Reset();
    fcntl(writing.get(), F_SETFL, 0);  // blocks: we read when we get to it
    const std::string answer = AnswerOf(options_.inspect, image.Shown(), running_ == Cause::kExit);
    WriteAll(writing.get(), answer.data(), answer.size());
    _exit(0);
  }
  if (looker_ < 0) {
    Say("not inspected: can't fork: {}", strerror(errno));
    looker_ = 0;
    running_ = Cause::kNone;
    return;
  }
  answer_ = std::move(reading);
}

void RunInspections::OnAnswer(Image* image) {
  char bytes[65536];
  ssize_t n;
  while ((n = read(answer_.get(), bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) received_.append(bytes, static_cast<size_t>(n));
  }
  if (n < 0 && errno == EAGAIN) return;
  const Cause cause = running_;
  Stop();
  const auto took = steady_clock::now() - began_;
  not_before_ = steady_clock::now() + took * kTimesBetween;
  if (image == nullptr || image != image_) return;
  SnapshotInspection found;
  const std::string_view answer = received_;
  if (!answer.empty() && answer[0] == kFound &&
      DecodeInspection(answer.substr(1), SIZE_MAX, found)) {
    image->SetInspection(std::move(found));
  } else {
    Say("not inspected: {}", !answer.empty() && answer[0] == kFailed
                                 ? answer.substr(1)
                                 : "the process that was to look has ended");
  }
  if (cause == Cause::kExit) {
    exit_answered_ = true;
    TellProgram(*image, kExitLookDone);
  }
  if (asked_ != Cause::kNone) Start(*image);
}

void RunInspections::FinishImage(Image& image) {
  asked_ = Cause::kNone;
  if (running_ != Cause::kNone && image_ == &image) OnAnswer(&image);
  Stop();
}

// Whatever it has stopped goes on (cli/inspect/frozen_copy.h).
void RunInspections::Stop() {
  answer_.Reset();
  running_ = Cause::kNone;
  if (looker_ == 0) return;
  kill(looker_, SIGKILL);
  while (waitpid(looker_, nullptr, 0) < 0 && errno == EINTR) {
  }
  looker_ = 0;
}

void RunInspections::TellProgram(const Image& image, uint32_t word) const {
  const RegionPlace place = image.region();
  static_cast<void>(!pwrite(place.fd, &word, sizeof word,
                            static_cast<off_t>(place.offset + offsetof(RegionHeader, exit_look))));
}

std::string RunInspections::WhyNoneAtExit(const Image& image) const {
  if (!options_.at_exit || exit_answered_) return {};
  if (image.replaced()) return "it has executed another program";
  return "the program didn't end by exit()";
}

}  // namespace memprof
