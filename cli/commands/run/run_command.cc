// memprof run: runs a program under the tracker and leaves its capture.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/commands/run/run_live.h"
#include "cli/commands/run/run_options.h"
#include "cli/commands/run/run_outputs.h"
#include "cli/preflight/preflight.h"
#include "cli/serve/server_process.h"
#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/jemalloc/jemalloc_run.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/processes/standard_descriptors.h"
#include "cli/supervisor/started_run.h"
#include "cli/supervisor/tree_finish.h"
#include "cli/symbols/symbolize_capture.h"

namespace memprof {
namespace {

// The program has ended, so signals are no longer forwarded: they end steps that may take long.
void GiveBackSignals(Signals& signals) {
  while (signals.Next()) {
  }
  sigprocmask(SIG_SETMASK, &signals.inherited().mask, nullptr);
}

// Stores names in the captures that were written. The captures are valid without: failures are only
// reported.
void SymbolizeCaptures(const SymbolOptions& options, const RunOutcome& program,
                       const TreeOutcome& descendants, const std::string& output) {
  std::vector<std::string> captures = program.executed_captures;
  captures.insert(captures.end(), descendants.files.begin(), descendants.files.end());
  if (!descendants.merge.empty()) captures.push_back(descendants.merge);
  if (program.written) captures.push_back(output);
  for (const std::string& capture : captures) {
    const auto symbolized = SymbolizeFile(capture, options);
    if (!symbolized) Say("no symbols are stored in {}: {}", capture, symbolized.error().message);
  }
}

// A budget for each process needs more captures than are to be left. Those that are over stay.
void RemoveMoreThan(size_t most, const std::vector<std::string>& over,
                    std::vector<std::string>& heaviest_first) {
  size_t at = 0;
  std::erase_if(heaviest_first, [&](const std::string& capture) {
    const bool wanted = at++ < most || std::find(over.begin(), over.end(), capture) != over.end();
    return !wanted && unlink(capture.c_str()) == 0;
  });
}

// Stores names, checks the budget, and reports how the run ended.
int Finish(const RunOptions& options, const RunSettings& settings, StartedRunOutcome& run,
           Signals& signals) {
  // A capture that is checked today is tomorrow's baseline, and the program's files will have
  // changed.
  if (options.symbolize || settings.budget) {
    GiveBackSignals(signals);
    SymbolizeCaptures(options.symbols, run.program, run.descendants, run.output);
  }
  if (!options.quiet) FindKeptByRuntime(run.program);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(run.output, error);
  Conclusion conclusion =
      Conclude(run.program, run.output, error ? 0 : bytes, run.region, options.quiet);
  if (settings.budget) {
    const auto over = settings.budget->Conclude(run, options.symbols, options.quiet, conclusion);
    RemoveMoreThan(options.children_files, over, run.descendants.files);
  }
  if (!options.quiet) {
    // Before the last line, which gives the reason for a status of our own.
    const auto lines = TreeLines(run.descendants, run.output);
    conclusion.lines.insert(
        conclusion.lines.empty() ? conclusion.lines.end() : conclusion.lines.end() - 1,
        lines.begin(), lines.end());
  }
  for (const std::string& line : conclusion.lines) Say(line);
  std::fputs(conclusion.report.c_str(), stderr);
  if (!conclusion.last_line.empty()) Say(conclusion.last_line);
  return conclusion.status;
}

int RunWithProfile(const RunOptions& options, const RunSettings& settings,
                   const Preflight& preflight, const std::vector<std::string>& argv) {
  JemallocRunOptions run;
  run.output = options.output;
  run.overwrite = options.force;
  run.quiet = options.quiet;
  run.command_line = options.command_line;
  run.symbolize = options.symbolize;
  run.symbols = options.symbols;
  run.sample_bytes = settings.tracker.sample_bytes;
  return RunWithJemallocProfile(run, preflight, argv);
}

// A program started by root may give up root and execute another one, whose tracker must reach the
// socket. Only processes of this run are admitted (TrackerSocket), and the directory stays ours.
Result<void> OpenToOtherUsers(const PrivateDirectory& directory, const TrackerSocket& socket) {
  if (geteuid() != 0) return {};
  if (chmod(directory.path().c_str(), 0711) != 0 || chmod(socket.path().c_str(), 0666) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("{}: {}", socket.path(), strerror(errno)));
  }
  return {};
}

Result<ServerProcess> StartServer(const RunOptions& options, const ServePlan& plan) {
  auto listener = Listener::Open(plan.address);
  if (!listener) return tl::unexpected<Error>(listener.error());
  if (!options.quiet) Say("served at {}", listener->url());
  return ServerProcess::Start(std::move(*listener), options.serve.hosts, plan.rules.token);
}

int Run(const RunOptions& options) {
  HoldStandardDescriptors();
  std::vector<int> callers = OpenDescriptors();
  const auto argv = CommandLineOf(options);
  if (!argv) return Refuse(argv.error().message);
  const auto settings = ReadRunSettings(options);
  if (!settings) return Refuse(settings.error().message);
  if (const auto name = OptionOfTheTracker(options)) {
    return Refuse(*name + " is for memprof's own counting, and --jemalloc-prof does without");
  }
  const auto preflight = CheckProgram(*argv, ProgramSearchPath());
  if (!preflight) return Refuse(preflight.error().message, preflight.error().status);
  if (options.jemalloc_prof) return RunWithProfile(options, *settings, *preflight, *argv);
  const auto preload = FindPreload();
  if (!preload) return Refuse(preload.error().message);
  std::optional<LiveRun> live;
  if (options.live) {
    auto started = LiveRun::Start();
    if (!started) return Refuse(started.error().message);
    live.emplace(std::move(*started));
  }
  auto directory = PrivateDirectory::Make(geteuid() == 0);
  if (!directory) return Refuse(directory.error().message);
  auto socket = TrackerSocket::Open(*directory);
  if (!socket) return Refuse(socket.error().message);
  if (const auto open = OpenToOtherUsers(*directory, *socket); !open) {
    return Refuse(open.error().message);
  }
  auto control = ControlSocket::Open(*directory);
  if (!control) return Refuse(control.error().message);
  const auto preloads = PreloadsFor(*preflight, *preload);
  if (!preloads) return Refuse(preloads.error().message);
  const auto preloadable = PreloadablePaths(*preloads, *directory);
  if (!preloadable) return Refuse(preloadable.error().message);
  if (!options.quiet) {
    for (const std::string& warning : preflight->warnings) Say("warning: {}", warning);
    if (!options.metrics.empty() && options.checkpoint.count() == 0) {
      Say("warning: with --checkpoint 0 the metrics are written at the end only");
    }
  }
  if (live && !options.quiet) {
    Say("the program's input is /dev/null; its output is printed when the view is left");
  }
  // One that goes on in the background for descendants answers nobody: viewers are to see the end.
  callers.push_back(control->fd());
  std::optional<ServerProcess> server;  // it ends with this object, or with us
  if (settings->serve) {
    auto started = StartServer(options, *settings->serve);
    if (!started) return Refuse(started.error().message);
    server.emplace(std::move(*started));
  }
  Signals signals;
  StartedRunPlan plan;
  if (live) {
    live->Redirect();
    for (const int fd : live->Descriptors()) callers.push_back(fd);
    plan.at_start = [&] { live->Show(directory->path()); };
  }
  plan.child = {preflight->path, *argv, EnvironmentWith(*preloadable, socket->path()),
                signals.inherited(), settings->inspections.inspect != nullptr};
  plan.name_outputs = [&](pid_t pid) {
    auto named = NameOutputs(options, *settings, preflight->name, pid);
    if (named) named->unseen_allocator = preflight->unseen_allocator;
    return named;
  };
  plan.follow_fork = options.follow_fork;
  plan.wait = options.wait;
  plan.filter = {options.only, options.skip};
  plan.children_files =
      std::max(options.children_files, settings->budget ? settings->budget->ChildrenFiles() : 0);
  plan.callers = callers;
  if (options.symbolize) {
    plan.at_late_end = [&options](const TreeOutcome& late) {
      SymbolizeCaptures(options.symbols, {}, late, {});
    };
  }
  auto run = RunStarted(plan, signals, *socket, *control, *directory);
  if (live) {
    { const ControlSocket closed = std::move(*control); }  // the view sees the end by that
    live->Finish(signals);
  }
  if (!run) return Refuse(run.error().message, run.error().status);
  return Finish(options, *settings, *run, signals);
}

}  // namespace

CommandBody SetUpRun(Arguments& arguments) {
  auto options = std::make_shared<RunOptions>();
  AddRunOptions(arguments, options);
  return [options] { return Run(*options); };
}

}  // namespace memprof
