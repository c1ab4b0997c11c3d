#include "cli/supervisor/images/image.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "cli/basics/proc_files.h"
#include "cli/basics/process_facts.h"
#include "cli/basics/random_number.h"
#include "cli/preflight/started_program.h"
#include "core/protocol/region_layout.h"
#include "core/region/region_reader.h"
#include "core/units.h"

namespace memprof {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLeastMappedTick{100};

uint64_t Milliseconds(steady_clock::duration duration) {
  return static_cast<uint64_t>(std::chrono::ceil<milliseconds>(duration).count());
}

// VmHWM: the highest resident memory; 0: not known (the process has ended).
uint64_t ResidentPeak(pid_t pid) {
  return std::strtoull(StatusLine(pid, "VmHWM").c_str(), nullptr, 10) * 1024;
}

}  // namespace

Image::Image(RegionFile region, pid_t pid, std::string name, const ImageOrigin& origin)
    : region_(std::move(region)),
      pid_(origin.is_there ? pid : 0),
      start_(origin.start.value_or(steady_clock::now())),
      last_sample_(start_),
      history_(region_.place(), pid_, start_, steady_clock::now, origin.history_scale),
      memory_(region_.place(), pid_, start_),
      named_moments_(region_.place(), start_),
      mark_(MarkOf(pid_)),
      random_addresses_(HasRandomAddresses(pid_)),
      last_own_(start_),
      thread_name_(CommandNameOf(pid_)) {
  program_.program = name.empty() ? StartedProgramOf(pid_).name : std::move(name);
  program_.pid = static_cast<uint32_t>(pid);
  if (origin.command_line) program_.command = CommandLineOf(pid_);
  if (origin.forked_from != nullptr) {
    program_.program = origin.forked_from->program;
    // Kept unless the process has changed its title since.
    if (program_.command.empty()) program_.command = origin.forked_from->command;
  }
  // It ended before anybody could see what it was.
  if (program_.program.empty()) program_.program = "[unknown]";
  program_.run_id = RandomNumber();
  program_.start_unix_ms =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch() -
                                               (steady_clock::now() - start_))
          .count();
}

bool Image::Sample() {
  const auto now = steady_clock::now();
  const auto state = ReadPeak(region_.place());
  if (!state) return false;
  const bool changed = state->current != current_ || state->peak != peak_;
  if (state->peak != peak_) {
    // The maximum lies between the last look and this one.
    program_.peak_time_ms = Milliseconds(now - start_);
    program_.peak_time_resolution_ms = std::max<uint64_t>(Milliseconds(now - last_sample_), 1);
  }
  current_ = state->current;
  peak_ = state->peak;
  last_sample_ = now;
  // Read first; it is this image's if the process still runs it afterwards.
  const uint64_t resident_peak = ResidentPeak(pid_);
  const std::string name = CommandNameOf(pid_);
  const std::optional<bool> executed = HasExecutedBy(MarkOf(pid_));
  if (executed == false) {
    program_.rss_peak_bytes = std::max(program_.rss_peak_bytes, resident_peak);
    thread_name_ = name;
    last_own_ = now;
  } else if (executed == true) {
    replaced_ = true;  // the resident memory is another program's by now
    replaced_by_ = StartedProgramOf(pid_).name;
  }
  return changed;
}

// Unset: not known.
std::optional<bool> Image::HasExecutedBy(const ProgramMark& now) {
  const std::optional<bool> executed = HasExecuted(mark_, now);
  if (executed != false || random_addresses_ || !Attached()) return executed;
  const auto time = steady_clock::now();
  if (time < next_mapped_) return false;
  const bool mapped = HasMapped(pid_, region_.fd()).value_or(true);
  // Reading a long list of mappings takes a while.
  next_mapped_ =
      time + std::max<steady_clock::duration>(kLeastMappedTick, (steady_clock::now() - time) * 20);
  seen_mapped_ |= mapped;
  if (!seen_mapped_ || mapped) return false;
  // A program that has ended meanwhile has no mappings either.
  return HasExecuted(mark_, MarkOf(pid_)).has_value() ? std::optional<bool>(true) : std::nullopt;
}

bool Image::LookForExec() {
  replaced_ |= HasExecutedBy(MarkOf(pid_)).value_or(false);
  return replaced_;
}

void Image::LookAtHistory() {
  if (replaced_) return;
  history_.Look();
  memory_.Look();
}

steady_clock::time_point Image::NextLook() const {
  if (replaced_) return steady_clock::time_point::max();
  return std::min(history_.NextLook(), memory_.NextLook());
}

uint64_t Image::NowMs() const {
  return static_cast<uint64_t>(
      std::chrono::floor<milliseconds>(steady_clock::now() - start_).count());
}

std::optional<uint64_t> Image::ResidentBytes() const {
  if (replaced_) return std::nullopt;
  return history_.ResidentBytes();
}

RegionHistory Image::History(EndKind end) {
  if (replaced_) history_.ForgetResidentSince(last_own_);
  RegionHistory history = history_.Content(end == EndKind::kRunning && !replaced_);
  history.memory = memory_.Content(end == EndKind::kRunning && !replaced_);
  named_moments_.AddTo(history);
  history.unseen = unseen_;
  history.inspection = inspection_;
  if (JemallocRefused()) {
    memprof::AddUnseen(history.unseen,
                       {{Unseen::Kind::kAllocator, "jemalloc", program_.program, 1}});
  }
  return history;
}

TrackerState Image::State() const {
  return static_cast<TrackerState>(ReadHeaderWord(region_.place(), offsetof(RegionHeader, state)));
}

bool Image::JemallocRefused() const {
  const uint32_t hooks = ReadHeaderWord(region_.place(), offsetof(RegionHeader, jemalloc_hooks));
  return static_cast<JemallocHooks>(hooks) == JemallocHooks::kRefused;
}

std::string Image::WhyWithoutPython() const {
  const auto read = [&](size_t offset) { return ReadHeaderWord(region_.place(), offset); };
  constexpr char kNone[] = "the stacks have no Python functions";
  switch (static_cast<PythonState>(read(offsetof(RegionHeader, python)))) {
    case PythonState::kNoInterpreter:
      break;
    case PythonState::kFrames:
      if (const uint32_t unread = read(offsetof(RegionHeader, python_unread)); unread != 0) {
        return fmt::format("{} stacks lack Python functions that could not be read",
                           FormatCount(unread));
      }
      break;
    case PythonState::kFreeThreaded:
      return fmt::format("{}: those of an interpreter without a global lock can't be read", kNone);
    case PythonState::kUnknownVersion: {
      const uint32_t version = read(offsetof(RegionHeader, python_version));
      const uint32_t minor = version >> 16 & 0xff;
      return fmt::format("{}: those of CPython 3.8 to 3.15 are known, and this interpreter is {}",
                         kNone, minor != 0 ? fmt::format("3.{}", minor) : "an older one");
    }
    case PythonState::kUnsuitable:
      return fmt::format("{}: this interpreter lacks what is needed to read them", kNone);
  }
  return {};
}

std::string Image::WhyWithoutPythonObjects(const Snapshot& written) const {
  const auto read = [&](size_t offset) {
    uint32_t value = 0;
    const ssize_t n = pread(region_.fd(), &value, sizeof value,
                            static_cast<off_t>(region_.place().offset + offset));
    return n == static_cast<ssize_t>(sizeof value) ? value : 0;
  };
  constexpr char kNone[] = "Python objects are not counted one by one";
  switch (static_cast<PythonObjects>(read(offsetof(RegionHeader, python_objects)))) {
    case PythonObjects::kNotAsked:
      break;
    case PythonObjects::kLate:
      return fmt::format("{}: the program opened its interpreter while it ran", kNone);
    case PythonObjects::kCounted:
      if (std::none_of(written.sites.begin(), written.sites.end(), [](const SnapshotSite& site) {
            return site.kind == AllocatorKind::kPymallocMalloc;
          })) {
        return fmt::format(
            "{}: the interpreter was told to use other allocators than its own (PYTHONMALLOC, "
            "-X dev)",
            kNone);
      }
      break;
  }
  return {};
}

// The last name that the tracker saw its main thread get, in CommandNameOf's form.
std::string Image::ToldName() const {
  char name[sizeof RegionHeader::main_thread_name + 1] = {};
  const auto at = region_.place().offset + offsetof(RegionHeader, main_thread_name);
  (void)!pread(region_.fd(), name, sizeof name - 1, static_cast<off_t>(at));
  return name;
}

void Image::LookForLateExec() {
  if (replaced_ || State() != TrackerState::kCounting) return;
  const std::string name = CommandNameOf(pid_);
  if (name == thread_name_ || name == ToldName()) return;
  replaced_ = true;
  replaced_by_ = name;
}

SnapshotProgram Image::Describe(EndKind end, uint32_t code) {
  Sample();
  program_.end_kind = end;
  program_.end_code = code;
  program_.duration_ms = Milliseconds(steady_clock::now() - start_);
  return program_;
}

}  // namespace memprof
