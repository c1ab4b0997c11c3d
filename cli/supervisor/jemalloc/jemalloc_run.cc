#include "cli/supervisor/jemalloc/jemalloc_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "cli/basics/random_number.h"
#include "cli/preflight/inner_jemalloc.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/jemalloc/profile_snapshot.h"
#include "cli/supervisor/processes/child.h"
#include "cli/supervisor/processes/job_control.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/symbols/symbolize_capture.h"
#include "core/snapshot/sampling.h"
#include "core/symbolizer/elf_file.h"
#include "core/units.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"
#include "formats/jemalloc_profile.h"

namespace memprof {
namespace {

constexpr int kDefaultShift = 19;  // the distance is 2 to this power: jemalloc's own default
constexpr char kProfileName[] = "profile";

// The executable's own variable, or jemalloc's usual one if a library is the allocator.
std::string VariableOf(const std::string& path) {
  const ElfFile file(path);
  const std::string variable = file.elf() != nullptr ? OptionsVariable(file.elf()) : std::string();
  return variable.empty() ? "MALLOC_CONF" : variable;
}

// Waits for the program's end, and forwards the signals that it has to get from us.
siginfo_t StayWith(pid_t program, Signals& signals) {
  for (;;) {
    pollfd waiting = {signals.fd(), POLLIN, 0};
    poll(&waiting, 1, -1);
    while (const auto number = signals.Next()) {
      if (*number != SIGCHLD) kill(program, *number);
    }
    if (const auto end = EndOfProgram(program)) {
      waitpid(program, nullptr, 0);
      return *end;
    }
  }
}

// The profiles that processes have left in the directory, which is removed.
struct LeftProfiles {
  std::optional<std::string> programs;  // the program's own, written at its end
  uint64_t others = 0;
};

LeftProfiles TakeProfiles(const std::string& directory, pid_t program) {
  LeftProfiles left;
  const std::string own = fmt::format("{}.{}.", kProfileName, program);
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    files.push_back(entry.path());
  }
  // profile.PID.NUMBER.f.heap: the last one counts; the others were taken earlier.
  const auto number = [&](const std::filesystem::path& file) {
    const std::string name = file.filename();
    return name.starts_with(own) ? std::strtoull(name.c_str() + own.size(), nullptr, 10) : 0;
  };
  std::sort(files.begin(), files.end(),
            [&](const auto& a, const auto& b) { return number(a) < number(b); });
  for (const auto& file : files) {
    const std::string name = file.filename();
    if (name.starts_with(own)) {
      if (!name.ends_with(".f.heap")) continue;
      if (auto text = ReadWholeFile(file)) left.programs = std::move(*text);
    } else if (name.starts_with(kProfileName)) {
      ++left.others;
    }
  }
  for (const auto& file : files) std::filesystem::remove(file, error);
  return left;
}

std::string WhyNoProfile(const siginfo_t& end) {
  if (end.si_code == CLD_EXITED) {
    return "its jemalloc left no profile: it was built without (--enable-prof; in Rust the feature "
           "profiling), there is none, or the program ended by _exit";
  }
  return fmt::format("its jemalloc writes its profile at exit, and the program was ended by SIG{}",
                     sigabbrev_np(end.si_status));
}

}  // namespace

std::vector<std::string> EnvironmentForProfile(const std::string& variable,
                                               const std::string& prefix, uint64_t sample_bytes) {
  const int shift =
      sample_bytes == 0 ? kDefaultShift : static_cast<int>(std::bit_width(sample_bytes)) - 1;
  std::string value;
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(variable) && text.substr(variable.size()).starts_with('=')) {
      value = std::string(text.substr(variable.size() + 1)) + ",";
    } else {
      environment.emplace_back(text);
    }
  }
  environment.push_back(
      fmt::format("{}={}prof:true,prof_active:true,prof_final:true,prof_accum:true,"
                  "lg_prof_sample:{},prof_prefix:{}",
                  variable, value, shift, prefix));
  return environment;
}

int RunWithJemallocProfile(const JemallocRunOptions& options, const Preflight& preflight,
                           const std::vector<std::string>& argv) {
  const auto directory = PrivateDirectory::Make();
  if (!directory) return Refuse(directory.error().message);
  const std::string prefix = directory->path() + "/" + kProfileName;
  if (prefix.find(',') != std::string::npos) {
    return Refuse(fmt::format(
        "{} has a comma, which jemalloc takes for its end; set XDG_RUNTIME_DIR", prefix));
  }
  Signals signals;
  auto child = Child::Fork(
      {preflight.path, argv,
       EnvironmentForProfile(VariableOf(preflight.Runs()), prefix, options.sample_bytes),
       signals.inherited()});
  if (!child) return Refuse(child.error().message);
  const pid_t pid = child->pid();
  const std::string output = ExpandName(options.output, preflight.name, pid);
  if (auto fine = CheckOutput(output, "-o", options.overwrite); !fine) {
    return Refuse(fine.error().message);
  }
  using std::chrono::milliseconds;
  SnapshotProgram program;
  program.program = std::filesystem::path(preflight.name).filename();
  program.pid = static_cast<uint32_t>(pid);
  if (options.command_line) program.command = argv;
  program.run_id = RandomNumber();
  program.start_unix_ms =
      std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  const auto started = std::chrono::steady_clock::now();
  if (const int error = child->Start(); error != 0) {
    return Refuse(fmt::format("{}: {}", argv[0], strerror(error)),
                  error == ENOENT ? kExitNotFound : kExitCannotExecute);
  }
  const siginfo_t end = StayWith(pid, signals);
  program.duration_ms = static_cast<uint64_t>(
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - started).count());
  program.end_kind = end.si_code == CLD_EXITED ? EndKind::kExit : EndKind::kSignal;
  program.end_code = static_cast<uint32_t>(end.si_status);
  const int status = end.si_code == CLD_EXITED ? end.si_status : kExitSignalBase + end.si_status;

  const LeftProfiles left = TakeProfiles(directory->path(), pid);
  if (left.others != 0 && !options.quiet) {
    Say("{} of child processes are not read", FormatCountOf(left.others, "profile"));
  }
  const auto fail = [&](const std::string& why) {
    Say("no capture: {}", why);
    return status != 0 ? status : kExitRefused;
  };
  if (!left.programs) return fail(WhyNoProfile(end));
  const auto profile = ReadJemallocProfile(*left.programs);
  if (!profile) return fail(profile.error().message);
  Snapshot read = SnapshotOf(*profile);
  read.program = std::move(program);
  const CanonicalSnapshot snapshot(std::move(read));
  if (auto written = WriteCaptureFile(output, snapshot); !written) {
    return fail(written.error().message);
  }
  if (options.symbolize) {
    const auto symbolized = SymbolizeFile(output, options.symbols);
    if (!symbolized) Say("no symbols are stored in {}: {}", output, symbolized.error().message);
  }
  if (options.quiet) return status;
  const FigureVariances variances = SumVariances(snapshot);
  Say("{} live at the end, by jemalloc's own samples; capture {}; see: memprof summary --leaks {}",
      FormatFigure(SumLeaked(snapshot), variances.leaked, snapshot->tracker.sample_bytes), output,
      output);
  return status;
}

}  // namespace memprof
