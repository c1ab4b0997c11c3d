// memprof run: starts a program under the tracker and leaves its capture.

#include "cli/run/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/message.h"
#include "cli/run/child.h"
#include "cli/run/exit_status.h"
#include "cli/run/output_name.h"
#include "cli/run/preflight.h"
#include "cli/run/preload.h"
#include "cli/run/region_file.h"
#include "cli/run/signals.h"
#include "cli/run/supervisor.h"
#include "cli/run/tracker_socket.h"
#include "core/units.h"

namespace memprof {
namespace {

struct RunOptions {
  bool aggregate = false;
  bool force = false;
  bool quiet = false;
  std::string output;
  std::string region;
  unsigned checkpoint_seconds = 30;
  CLI::App* app = nullptr;
};

int Refuse(const std::string& why, int status = kExitRefused) {
  Say(why);
  return status;
}

// A word that a shell takes as it is.
std::string Quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_@%+=:,./-") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void Report(const RunOutcome& outcome, const std::string& output) {
  const Count peak = SumPeak(outcome.snapshot);
  const Count leaked = SumLeaked(outcome.snapshot);
  const Count total = SumTotal(outcome.snapshot);
  std::error_code error;
  const auto size = std::filesystem::file_size(output, error);
  Say("peak {}, leaked {} in {}, {} allocations; capture {} ({}); see: memprof summary {}",
      FormatBytes(peak.bytes), FormatBytes(leaked.bytes), FormatCount(leaked.allocations),
      FormatCount(total.allocations), output, error ? "?" : FormatBytes(size), Quoted(output));
  const SnapshotTracker& tracker = outcome.snapshot.tracker;
  if (tracker.dropped_events != 0) {
    Say("{} events could not be counted", FormatCount(tracker.dropped_events));
  }
  if (outcome.descendants + static_cast<int>(tracker.fork_children) > 0) {
    Say("child processes are not profiled ({} were seen)",
        static_cast<uint32_t>(outcome.descendants) + tracker.fork_children);
  }
}

// What the program's end and ours make together; says why if a failure is memprof's.
int Conclude(const RunOutcome& outcome, const RunOptions& options, const std::string& output) {
  const int status = outcome.signalled ? kExitSignalBase + outcome.code : outcome.code;
  std::string failure;
  if (outcome.image == nullptr) {
    failure =
        "no tracker connected, so there is no capture: the program clears its environment, is not "
        "what the loader runs, or ended before its first allocation; try memprof doctor PROGRAM";
  } else if (!outcome.write_error.empty()) {
    failure = "no capture: " + outcome.write_error;
  } else if (outcome.snapshot.tracker.stop_reason != 0) {
    failure = StopMessage(outcome.snapshot.tracker.stop_reason);
  }
  if (failure.empty()) {
    if (!options.quiet) Report(outcome, output);
    return status;
  }
  if (status == 0 || !options.quiet) Say(failure);
  return status != 0 ? status : kExitRefused;
}

int Run(const RunOptions& options) {
  std::vector<std::string> argv = options.app->remaining();
  if (!argv.empty() && argv[0] == "--") argv.erase(argv.begin());
  if (argv.empty()) return Refuse("no program given; try: memprof run ./program");

  const char* search_path = std::getenv("PATH");
  const auto preflight =
      CheckProgram(argv[0], search_path != nullptr ? search_path : "/usr/local/bin:/usr/bin:/bin");
  if (!preflight) return Refuse(preflight.error().message, preflight.error().status);
  const auto preload = FindPreload();
  if (!preload) return Refuse(preload.error().message);
  auto socket = TrackerSocket::Open();
  if (!socket) return Refuse(socket.error().message);
  const auto preloadable = PreloadablePath(*preload, socket->directory());
  if (!preloadable) return Refuse(preloadable.error().message);
  // What the link stands for, if there is one, goes with the socket's directory.
  struct LinkRemover {
    std::string path;
    ~LinkRemover() {
      if (!path.empty()) unlink(path.c_str());
    }
  } const link{*preloadable == *preload ? std::string() : *preloadable};

  Signals signals;
  auto child = Child::Fork({preflight->path, argv, EnvironmentWith(*preloadable, socket->path()),
                            signals.mask_before(), signals.file_size_action_before()});
  if (!child) return Refuse(child.error().message);
  const std::string output = ExpandName(options.output.empty() ? kDefaultOutput : options.output,
                                        argv[0], child->pid());
  if (const auto fine = CheckOutput(output, options.force); !fine) {
    return Refuse(fine.error().message);
  }
  const std::string region_path = ExpandName(options.region, argv[0], child->pid());
  auto region = region_path.empty() ? RegionFile::InMemory()
                                    : RegionFile::InFile(region_path, options.force);
  if (!region) return Refuse(region.error().message);
  if (!options.quiet) {
    for (const std::string& warning : preflight->warnings) Say("warning: {}", warning);
  }

  Supervisor supervisor({output, std::chrono::seconds(options.checkpoint_seconds)}, signals,
                        *socket, child->pid(), std::move(*region));
  if (const int error = child->Start(); error != 0) {
    return Refuse(fmt::format("{}: {}", argv[0], strerror(error)),
                  error == ENOENT ? kExitNotFound : kExitCannotExecute);
  }
  return Conclude(supervisor.Run(), options, output);
}

}  // namespace

CommandBody SetUpRun(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->app = &app;
  app.usage("Usage: memprof run [OPTIONS] [--] PROGRAM [ARGS...]");
  app.add_flag("--aggregate", options->aggregate,
               "Leave figures per place, not a record per allocation (what run always does)");
  app.add_option("-o,--output", options->output,
                 "The capture's file; %p is the pid, %n the program (default: %n.%p.memprof)");
  app.add_flag("-f,--force", options->force, "Overwrite an existing capture");
  app.add_flag("-q,--quiet", options->quiet, "Say nothing at the end unless it failed");
  app.add_option("--checkpoint", options->checkpoint_seconds,
                 "Write the capture every SECONDS while the program runs; 0: only at its end")
      ->capture_default_str();
  app.add_option("--region", options->region,
                 "Keep the counts in this file while the program runs: nothing is lost even if "
                 "memprof is killed too; reports read it");
  app.prefix_command();
  return [options] { return Run(*options); };
}

}  // namespace memprof
