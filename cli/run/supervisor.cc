#include "cli/run/supervisor.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cli/message.h"
#include "cli/run/output_name.h"
#include "formats/capture_writer.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kBusyTick{100};
constexpr milliseconds kQuietTick{1000};
constexpr int kQuietAfter = 20;  // ticks without a change

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Signals& signals, TrackerSocket& socket,
                       pid_t program, RegionFile first_region)
    : options_(std::move(options)),
      signals_(signals),
      socket_(socket),
      program_(program),
      next_region_(std::move(first_region)),
      tick_(kBusyTick),
      next_checkpoint_(steady_clock::now() + options_.checkpoint) {}

RunOutcome Supervisor::Run() {
  auto next_tick = steady_clock::now() + tick_;
  while (!ended_) {
    pollfd waiting[] = {{signals_.fd(), POLLIN, 0}, {socket_.fd(), POLLIN, 0}};
    const auto left =
        std::chrono::ceil<milliseconds>(next_tick - steady_clock::now()).count();
    poll(waiting, 2, static_cast<int>(std::max<milliseconds::rep>(left, 0)));
    // Visitors first: a program that ended at once may have connected before.
    if (waiting[1].revents != 0) OnVisitors();
    if (waiting[0].revents != 0) OnSignals();
    if (steady_clock::now() < next_tick) continue;
    OnTick();
    next_tick = steady_clock::now() + tick_;
  }
  const EndKind end = outcome_.signalled ? EndKind::kSignal : EndKind::kExit;
  if (outcome_.image != nullptr) {
    FinishImage(end, static_cast<uint32_t>(outcome_.code), options_.output);
  }
  return std::move(outcome_);
}

void Supervisor::OnSignals() {
  while (const auto number = signals_.Next()) {
    if (*number == SIGCHLD) {
      if (ReapProgram()) return;
    } else if (kill(program_, *number) != 0) {
      ReapProgram();
    }
  }
}

// True: the program has ended.
bool Supervisor::ReapProgram() {
  int status;
  while (waitpid(program_, &status, WNOHANG | WUNTRACED) == program_) {
    if (WIFSTOPPED(status)) {
      // The shell waits for us: it must see its job stopped. SIGCONT comes to the whole group, or
      // to us and is forwarded.
      kill(getpid(), SIGSTOP);
      continue;
    }
    ended_ = true;
    outcome_.signalled = WIFSIGNALED(status);
    outcome_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }
  return false;
}

void Supervisor::OnVisitors() {
  while (const auto visitor = socket_.Accept()) {
    if (visitor->pid != program_) {
      ++outcome_.descendants;
      socket_.Answer(*visitor, -1, 0);
      continue;
    }
    if (outcome_.image != nullptr) {
      // The same process with a fresh tracker: it has executed another program.
      ++outcome_.earlier_images;
      FinishImage(EndKind::kExec, 0,
                  InsertBeforeExtension(options_.output,
                                        ".exec" + std::to_string(outcome_.earlier_images)));
      outcome_.image.reset();
    }
    if (next_region_given_) {
      auto region = RegionFile::InMemory();
      if (!region) {
        Say(region.error().message);
        socket_.Answer(*visitor, -1, 0);
        continue;
      }
      next_region_ = std::move(*region);
    }
    next_region_given_ = true;
    socket_.Answer(*visitor, next_region_.fd(), next_region_.bytes());
    outcome_.image =
        std::make_unique<Image>(std::move(next_region_), program_, CommandOf(program_));
    tick_ = kBusyTick;
  }
}

void Supervisor::OnTick() {
  if (outcome_.image == nullptr) return;
  quiet_ticks_ = outcome_.image->Sample(tick_) ? 0 : quiet_ticks_ + 1;
  tick_ = quiet_ticks_ < kQuietAfter ? kBusyTick : kQuietTick;
  if (options_.checkpoint.count() > 0 && steady_clock::now() >= next_checkpoint_) Checkpoint();
}

void Supervisor::Checkpoint() {
  next_checkpoint_ = steady_clock::now() + options_.checkpoint;
  const auto snapshot = outcome_.image->Read(EndKind::kRunning, 0);
  const auto written = snapshot ? WriteCaptureFile(options_.output, *snapshot)
                                : Result<void>(tl::unexpected<Error>(snapshot.error()));
  // The next one may succeed; the last one's failure is the run's.
  if (!written) Say("checkpoint: {}", written.error().message);
}

void Supervisor::FinishImage(EndKind end, uint32_t code, const std::string& file) {
  outcome_.write_error.clear();
  auto snapshot = outcome_.image->Read(end, code);
  if (!snapshot) {
    outcome_.write_error = snapshot.error().message;
    return;
  }
  outcome_.snapshot = std::move(*snapshot);
  const auto written = WriteCaptureFile(file, outcome_.snapshot);
  if (!written) outcome_.write_error = written.error().message;
}

}  // namespace memprof
