#include "cli/supervisor/supervisor.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "cli/preflight/inner_jemalloc_cache.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBusyTick{100};
// the others wait: endless visitors must not keep us from other work
constexpr int kVisitsALook = 64;
constexpr milliseconds kAnswerTick{20};  // while somebody waits for the next tick
constexpr milliseconds kQuietTick{1000};
constexpr int kQuietAfter = 20;  // after so many ticks without a change

ControlReply Reply(ControlStatus status, const std::string& text) {
  ControlReply reply;
  reply.status = status;
  SetText(reply.text, text);
  return reply;
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Signals& signals, TrackerSocket& socket,
                       ControlSocket& control, InnerJemallocCache& jemallocs,
                       SupervisedProgram& program, RegionFile region, ProcessTree* tree)
    : options_(std::move(options)),
      signals_(signals),
      socket_(socket),
      jemallocs_(jemallocs),
      program_(program),
      tree_(tree),
      first_region_(std::move(region)),
      executed_(options_.output, options_.overwrite),
      named_moments_(options_.named_moments, control, options_.output, options_.region,
                     options_.checkpoint.count() != 0, program.pid()),
      inspections_(options_.inspections),
      tick_(kBusyTick),
      next_checkpoint_(steady_clock::now() + FirstCheckpoint(options_.checkpoint)) {
  if (options_.timeout.count() != 0) timeout_ = steady_clock::now() + options_.timeout;
  program_.WakeAt(timeout_);
}

RunOutcome Supervisor::Run() {
  auto next_tick = steady_clock::now() + tick_;
  while (!ended_) {
    try {
      Look(next_tick);
    } catch (const std::bad_alloc&) {  // the program goes on, and counts in its region
      if (!std::exchange(out_of_memory_, true)) Say("out of memory: history and checkpoints lack");
      next_tick = steady_clock::now() + kQuietTick;
    }
  }
  FinishLastImage();
  AnswerDetachRequests();
  return std::move(outcome_);
}

// Waits for the next event, at most until the tick, and handles it.
void Supervisor::Look(steady_clock::time_point& next_tick) {
  pollfd waiting[] = {{signals_.fd(), POLLIN, 0},
                      {socket_.fd(), POLLIN, 0},
                      {named_moments_.fd(), POLLIN, 0},
                      {program_.fd(), POLLIN, 0},
                      {tree_ != nullptr ? tree_->fd() : -1, POLLIN, 0},
                      {inspections_.fd(), POLLIN, 0}};
  auto wake = image_ == nullptr ? next_tick : std::min(next_tick, image_->NextLook());
  wake = std::min(wake, named_moments_.NextLook(image_.get()));
  wake = std::min(wake, timeout_);
  if (tree_ != nullptr) wake = std::min(wake, tree_->NextLook());
  const auto left = std::chrono::ceil<milliseconds>(wake - steady_clock::now()).count();
  poll(waiting, std::size(waiting), static_cast<int>(std::max<milliseconds::rep>(left, 0)));
  // Visitors first: a program that has ended already may have connected before.
  if (waiting[1].revents != 0) OnVisitors();
  if (waiting[0].revents != 0) OnSignals();
  if (tree_ != nullptr && (waiting[4].revents != 0 || steady_clock::now() >= tree_->NextLook())) {
    tree_->Look();
  }
  if (waiting[2].revents != 0) named_moments_.OnRequests(image_.get());
  for (const int fd : named_moments_.TakeDetachRequests()) OnDetachRequest(fd);
  for (const int fd : named_moments_.TakeShowRequests()) AnswerWithRun(fd, Shown());
  if (waiting[5].revents != 0) inspections_.OnAnswer(image_.get());
  if (waiting[3].revents != 0) LookAtProgram();
  if (!ended_ && steady_clock::now() >= timeout_) OnTimeout();
  if (image_ != nullptr && !ended_) image_->LookAtHistory();
  if (!ended_ && named_moments_.Look(image_.get())) next_checkpoint_ = steady_clock::now();
  if (named_moments_.AreAwaited())
    next_tick = std::min(next_tick, steady_clock::now() + kAnswerTick);
  if (steady_clock::now() < next_tick) return;
  OnTick();
  next_tick = steady_clock::now() + tick_;
}

void Supervisor::OnSignals() {
  while (const auto number = program_.NextSignal(signals_)) {
    const bool inspects = inspections_.IsOurs(*number);
    if (inspects) inspections_.OnSignal(image_.get());
    if (named_moments_.IsOurs(*number)) {
      named_moments_.OnSignal(image_.get());
    } else if (!inspects) {
      program_.OnSignal(*number);
    }
    if (LookAtProgram()) return;
  }
}

// True: the program has ended and is reaped, or memprof detached from it.
bool Supervisor::LookAtProgram() {
  const auto end = program_.Look();
  if (!end) return false;
  ended_ = true;
  static_cast<ProgramEnd&>(outcome_) = *end;
  if (image_ != nullptr && end->is_there) image_->LookForLateExec();
  if (image_ != nullptr && end->executed) {
    image_->Sample();  // finds the other program's name
    image_->MarkReplaced();
  }
  program_.Reap();
  return true;
}

ShownRun Supervisor::Shown() const {
  ShownRun run;
  run.supervisor = getpid();
  run.program = program_.pid();
  run.capture = CanonicalName(options_.output);
  if (image_ != nullptr && image_->Attached()) {
    run.processes.push_back(image_->Shown());
  }
  run.living = static_cast<uint32_t>(run.processes.size());
  if (tree_ != nullptr) tree_->Show(run);
  return run;
}

void Supervisor::OnDetachRequest(int fd) {
  if (const auto asked = program_.LetGo(); !asked) {
    ControlSocket::Answer(fd, Reply(ControlStatus::kFailed, asked.error().message));
    return;
  }
  detach_askers_.push_back(fd);
}

void Supervisor::AnswerDetachRequests() {
  for (const int fd : detach_askers_) {
    const bool written = outcome_.written.has_value();
    ControlSocket::Answer(fd, written ? Reply(ControlStatus::kTaken, CanonicalName(options_.output))
                                      : Reply(ControlStatus::kFailed, outcome_.write_error));
  }
  detach_askers_.clear();
}

void Supervisor::OnVisitors() {
  const auto is_of_this_run = [this](pid_t pid) {
    return pid == program_.pid() || (tree_ != nullptr && tree_->IsDescendant(pid));
  };
  for (int visits = 0; visits < kVisitsALook; ++visits) {
    const auto visitor = socket_.Accept(is_of_this_run);
    if (!visitor) return;
    if (visitor->pid == program_.pid() && (tree_ == nullptr || tree_->Wants(program_.pid()))) {
      StartImage(*visitor);
    } else if (visitor->pid == program_.pid()) {
      outcome_.left_out = true;
      if (image_ != nullptr) image_->MarkReplaced();
      socket_.SendAway(*visitor);
    } else if (tree_ != nullptr) {
      tree_->OnVisitor(socket_, *visitor);
    } else {
      ++outcome_.descendants;
      socket_.SendAway(*visitor);
    }
  }
}

Result<RegionFile> Supervisor::NextRegion(uint64_t most_bytes) {
  if (first_region_) {
    RegionFile region = std::move(*first_region_);
    first_region_.reset();
    if (region.bytes() <= most_bytes) return region;
  }
  // The earlier image's region stays readable for us, although the new file has its name.
  return options_.region.empty() ? RegionFile::InMemory(most_bytes)
                                 : RegionFile::InFile(options_.region, true, most_bytes);
}

// The program's tracker. If there is an image already, the process has executed another program.
void Supervisor::StartImage(const TrackerSocket::Visitor& visitor) {
  auto region = NextRegion(visitor.most_region_bytes);
  if (!region) {
    Say(region.error().message);
    socket_.SendAway(visitor);
    return;
  }
  TrackerOptions tracker = options_.tracker;
  const InnerAllocators allocators = jemallocs_.Of(program_.pid());
  tracker.jemalloc = allocators.jemalloc;
  if (!region->SetOptions(tracker)) Say("the tracker's options could not be written");
  const uint64_t bytes = region->bytes();
  // Before the answer: after it the program may end at once.
  ImageOrigin origin;
  origin.command_line = options_.command_line;
  // The started program may be left out, and this may be the one that it executed.
  const bool is_started = image_ == nullptr && !outcome_.left_out;
  auto image = std::make_unique<Image>(std::move(*region), program_.pid(),
                                       is_started ? options_.program : std::string(), origin);
  image->AddUnseenAllocator(is_started && !options_.unseen_allocator.empty()
                                ? options_.unseen_allocator
                                : allocators.unseen);
  // The tracker is waiting: everything else comes after the answer.
  TrackerSocket::ForChildren children = {-1, 0, 0};
  if (tree_ != nullptr)
    children = tree_->ForChildrenOf(tree_->ProgramStarts(image->program()), visitor.user);
  if (!socket_.Admit(visitor, image->region().fd, bytes, children)) {
    ++outcome_.late_trackers;
    if (image_ != nullptr) image_->MarkReplaced();
    return;
  }
  tick_ = kBusyTick;
  quiet_ticks_ = 0;
  const std::unique_ptr<Image> before = std::exchange(image_, std::move(image));
  if (before == nullptr) return;
  if (before->Attached()) {
    inspections_.FinishImage(*before);
    named_moments_.FinishImage(*before);
    named_moments_.ImageExecuted(executed_.Add(*before));
  } else {
    ++outcome_.late_trackers;
    image_->AddUnseen({Unseen::Kind::kExecuted, before->name(), {}, 1});
  }
}

// As timeout(1), which signals a whole process group, and lets what is stopped go on to receive it.
void Supervisor::OnTimeout() {
  const int number = outcome_.timed_out ? SIGKILL : SIGTERM;
  timeout_ = outcome_.timed_out ? steady_clock::time_point::max() : timeout_ + kKillAfterTimeout;
  outcome_.timed_out = true;
  program_.WakeAt(timeout_);
  for (const int each : {number, SIGCONT}) {
    program_.OnSignal(each);
    if (tree_ != nullptr) tree_->SignalAll(each);
  }
}

void Supervisor::OnTick() {
  executed_.Collect();
  named_moments_.AnswerExecuted(executed_);
  named_moments_.OnTick(image_.get());
  inspections_.OnTick(image_.get());
  if (image_ == nullptr) return;
  quiet_ticks_ = image_->Sample() ? 0 : quiet_ticks_ + 1;
  const bool is_busy = quiet_ticks_ < kQuietAfter || inspections_.NeedsTicks();
  tick_ = is_busy ? kBusyTick : kQuietTick;
  if (!ended_ && image_->replaced()) {
    program_.OnExec();
    if (LookAtProgram()) return;
  }
  if (checkpoint_.Busy()) return;
  FinishCheckpoint();
  if (options_.checkpoint.count() == 0 || steady_clock::now() < next_checkpoint_) return;
  next_checkpoint_ = steady_clock::now() + options_.checkpoint;
  if (!image_->Attached()) return;
  const SnapshotProgram program = image_->Describe(EndKind::kCut, 0);
  named_moments_.CheckpointStarts();
  checkpoint_.Start(options_.output, image_->region(), program, HistoryOf(EndKind::kRunning),
                    options_.metrics);
}

void Supervisor::FinishCheckpoint() {
  if (!checkpoint_.Started()) return;
  const auto written = checkpoint_.Finish();
  // Reported once: the next one may succeed, and a failure of the last one is the run's.
  if (!written && !checkpoint_failed_) Say("checkpoint: {}", written.error().message);
  checkpoint_failed_ = !written;
  SayNoMetrics(checkpoint_.no_metrics());
  outcome_.checkpoints += written ? 1 : 0;
  named_moments_.CheckpointEnds(written.has_value());
}

// Reported once, until they are written again.
void Supervisor::SayNoMetrics(const std::string& why) {
  if (!why.empty() && !metrics_failed_) Say("metrics: {}", why);
  metrics_failed_ = !why.empty();
}

// Including what the program's own capture says about its descendants.
RegionHistory Supervisor::HistoryOf(EndKind end) {
  RegionHistory history = image_->History(end);
  if (tree_ != nullptr) AddUnseen(history.unseen, tree_->UnseenSoFar());
  return history;
}

void Supervisor::FinishLastImage() {
  FinishCheckpoint();
  executed_.Finish();
  named_moments_.AnswerExecuted(executed_);
  outcome_.executed_images = executed_.count();
  outcome_.executed_without_capture = executed_.without_capture();
  outcome_.executed_captures = executed_.captures();
  if (image_ == nullptr) return;
  if (!image_->Attached()) {
    ++outcome_.late_trackers;
    return;
  }
  EndKind end = outcome_.signalled ? EndKind::kSignal : EndKind::kExit;
  if (outcome_.still_running) end = EndKind::kRunning;
  if (outcome_.end_unknown) end = EndKind::kEnded;
  auto code = static_cast<uint32_t>(outcome_.code);
  if (image_->replaced()) {
    outcome_.untracked_image = image_->name();
    end = EndKind::kExec;
    code = 0;
    if (!outcome_.left_out) {
      image_->AddUnseen({Unseen::Kind::kExecuted, image_->replaced_by(), image_->name(), 1});
    }
  }
  outcome_.jemalloc_refused = image_->JemallocRefused();
  outcome_.without_python = image_->WhyWithoutPython();
  const SnapshotProgram program = image_->Describe(end, code);
  inspections_.FinishImage(*image_);
  outcome_.not_inspected = inspections_.WhyNoneAtExit(*image_);
  named_moments_.FinishImage(*image_);
  std::string no_metrics;
  auto written = WriteRegion(options_.output, image_->region(), program, HistoryOf(end),
                             options_.metrics, no_metrics);
  SayNoMetrics(no_metrics);
  named_moments_.Finish();
  if (written) {
    outcome_.written = std::move(*written).Take();
    outcome_.without_python_objects = image_->WhyWithoutPythonObjects(*outcome_.written);
  } else {
    outcome_.write_error = written.error().message;
  }
}

}  // namespace memprof
