#include "cli/serve/served_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/basics/output_name.h"
#include "cli/load/load.h"
#include "formats/capture/capture_reader.h"

namespace memprof {
namespace {

using Clock = std::chrono::steady_clock;

// Looks cost at most one part in this many of a core.
constexpr int kShare = 4;

SymbolizerOptions WithoutWaiting() {
  SymbolizerOptions options;
  options.download_limit = std::chrono::milliseconds(0);
  return options;
}

int64_t UnixNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What a capture or region says that no run writes now; unset: there is none, or it can't be read.
std::optional<ServedRunLook> ReadEnded(const std::string& capture) {
  const auto bytes = LoadCaptureBytes(capture);
  if (!bytes) return std::nullopt;
  auto content = DecodeCapture(bytes->bytes);
  if (!content) return std::nullopt;
  ServedRunLook look;
  look.capture = capture;
  look.ended = true;
  ServedProcess process;
  process.pid = static_cast<pid_t>(content->snapshot.program.pid);
  process.program = content->snapshot.program.program;
  process.snapshot = std::move(content->snapshot);
  process.symbols = std::move(content->symbols);
  process.all_named = process.symbols.chains.size() == process.snapshot.frames.size();
  look.program = process.pid;
  look.processes.push_back(std::move(process));
  return look;
}

// The facts that a region alone doesn't have.
void Complete(Snapshot& snapshot, uint64_t rss_bytes, bool ended) {
  SnapshotProgram& program = snapshot.program;
  if (ended) {
    program.end_kind = EndKind::kEnded;
    return;
  }
  const int64_t now_ms = UnixNanoseconds() / 1'000'000;
  program.duration_ms =
      now_ms > program.start_unix_ms ? static_cast<uint64_t>(now_ms - program.start_unix_ms) : 0;
  if (rss_bytes == 0) return;
  uint64_t heap_bytes = 0;
  for (const SnapshotSite& site : snapshot.sites) heap_bytes += site.leaked.bytes;
  snapshot.timeline.interval_ms = 1;
  snapshot.timeline.points = {{program.duration_ms, heap_bytes, rss_bytes}};
}

}  // namespace

ServedRuns::ServedRuns() : names_(MakeSymbolizer(WithoutWaiting())) {}

Result<void> ServedRuns::Add(const std::string& target) {
  const MutexLock lock(mutex_);
  Target added;
  auto found = FindRun(target);
  if (found) {
    added.capture = found->run.capture;
    added.source = std::make_unique<LiveSource>(std::move(*found));
  } else {
    std::error_code error;
    const bool names_file = target.find_first_not_of("0123456789") != std::string::npos ||
                            std::filesystem::exists(target, error);
    if (target.empty() || !names_file) return tl::unexpected<Error>(found.error());
    added.capture = CanonicalName(target);
    if (added.capture.empty()) return tl::unexpected<Error>(found.error());
    if (std::filesystem::exists(target, error)) {
      auto ended = ReadEnded(added.capture);
      if (!ended) {
        return Fail(ErrorKind::kUnreadable,
                    fmt::format("{}: neither does a run write it, nor is it a capture", target));
      }
      added.last = std::move(*ended);
    }
    added.last.capture = added.capture;
    added.last.ended = true;
  }
  const bool known = std::any_of(targets_.begin(), targets_.end(),
                                 [&](const Target& each) { return each.capture == added.capture; });
  if (!known) targets_.push_back(std::move(added));
  return {};
}

void ServedRuns::Read(Target& target) {
  if (target.source == nullptr) {
    target.last.capture = target.capture;
    auto found = FindRun(target.capture);
    if (!found) return;  // the last figures stay
    target.capture = found->run.capture;
    target.source = std::make_unique<LiveSource>(std::move(*found));
  }
  LiveReading reading = target.source->Read();
  ServedRunLook look;
  look.program = reading.run.program;
  look.supervisor = reading.run.supervisor;
  look.capture = target.capture;
  look.living = reading.ended ? 0 : reading.run.living;
  look.ended = reading.ended;
  for (LiveProcess& each : reading.processes) {
    ServedProcess process = {
        each.pid, each.program, each.rss_bytes, std::move(each.snapshot).Take(), {}};
    Complete(process.snapshot, process.rss_bytes, look.ended);
    look.processes.push_back(std::move(process));
  }
  if (look.ended) target.source.reset();
  // A program that has only begun to end has no regions any more.
  if (look.ended && look.processes.empty()) {
    look.processes = std::move(target.last.processes);
    for (ServedProcess& process : look.processes) Complete(process.snapshot, 0, true);
  }
  target.last = std::move(look);
}

void ServedRuns::Name(ServedRunLook& run, LiveNames& names, Clock::time_point until) {
  for (ServedProcess& process : run.processes) {
    const Snapshot& snapshot = process.snapshot;
    if (process.all_named) continue;
    std::vector<SourceChain>& chains = process.symbols.chains;
    chains = names.Found(snapshot.modules, snapshot.frames);
    process.all_named = std::none_of(chains.begin(), chains.end(),
                                     [](const SourceChain& chain) { return chain.empty(); });
    if (!process.all_named) {
      process.all_named = names.Wait(until);
      chains = names.Found(snapshot.modules, snapshot.frames);
    }
    for (size_t i = 0; i < snapshot.frames.size(); ++i) {
      // A row that stands for no address has the same name everywhere.
      if (snapshot.frames[i].module == kNoModule) chains[i].clear();
    }
    process.symbols.notes.resize(snapshot.modules.size());
  }
}

std::shared_ptr<const ServedLook> ServedRuns::Look() {
  const MutexLock lock(mutex_);
  const auto begin = Clock::now();
  if (look_ != nullptr && begin < fresh_until_ + kShare * look_->cost()) return look_;
  std::vector<ServedRunLook> runs;
  for (Target& target : targets_) {
    Read(target);
    Name(target.last, names_, begin + kNamesWait);
    runs.push_back(target.last);
  }
  look_ = std::make_shared<const ServedLook>(++looks_, UnixNanoseconds(), std::move(runs));
  const auto end = Clock::now();
  fresh_until_ = end + std::max<Clock::duration>(kYoungest, kShare * (end - begin));
  return look_;
}

ServedRuns::Moment ServedRuns::TakeMoment(pid_t run, const std::string& name) {
  std::optional<FoundRun> found;
  {
    const MutexLock lock(mutex_);
    for (Target& target : targets_) {
      if (target.source == nullptr) continue;
      if (run != 0 && target.source->run().program != run) continue;
      if (found) return {false, "several runs are served; say which one by ?run=PID"};
      found = target.source->found();
    }
  }
  if (!found) return {false, "no such run goes on"};
  Moment moment = {false, {}};
  moment.text = LiveSource(std::move(*found)).TakeMoment(name, &moment.taken);
  return moment;
}

void ServedRuns::AddSupervisor(pid_t supervisor) {
  const MutexLock lock(mutex_);
  Target target;
  target.capture = std::to_string(supervisor);
  targets_.push_back(std::move(target));
}

ServedRuns::State ServedRuns::Now() {
  const MutexLock lock(mutex_);
  State state;
  for (const Target& target : targets_) {
    if (target.source != nullptr) {
      state.supervisors.push_back(target.source->run().supervisor);
    } else {
      state.complete = false;
    }
  }
  return state;
}

}  // namespace memprof
