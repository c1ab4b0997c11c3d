// memprof run: starts a program under the tracker and leaves its capture.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/basics/output_name.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/snapshot_options.h"
#include "cli/commands/options/tracking_options.h"
#include "cli/commands/run_budget.h"
#include "cli/preflight/inner_jemalloc_cache.h"
#include "cli/preflight/preflight.h"
#include "cli/supervisor/channels/control_socket.h"
#include "cli/supervisor/channels/preload.h"
#include "cli/supervisor/channels/private_directory.h"
#include "cli/supervisor/channels/tracker_socket.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/images/region_file.h"
#include "cli/supervisor/jemalloc/jemalloc_run.h"
#include "cli/supervisor/processes/child.h"
#include "cli/supervisor/processes/child_program.h"
#include "cli/supervisor/processes/signals.h"
#include "cli/supervisor/processes/standard_descriptors.h"
#include "cli/supervisor/supervisor.h"
#include "cli/supervisor/tree/process_tree.h"
#include "cli/supervisor/tree_finish.h"
#include "cli/symbols/symbolize_capture.h"

namespace memprof {
namespace {

struct RunOptions {
  bool aggregate = false;
  bool force = false;
  bool quiet = false;
  std::string output = kDefaultOutput;
  std::string region;
  std::chrono::milliseconds checkpoint = std::chrono::seconds(30);
  bool command_line = true;
  bool follow_fork = true;
  bool wait = false;
  std::vector<std::string> only, skip;
  size_t max_children_files = 64;
  bool mmap = true;
  TrackingFlags tracking;
  SnapshotFlags snapshots;
  std::string metrics;
  bool jemalloc_prof = false;
  bool symbolize = false;
  SymbolOptions symbols;
  RunBudgetOptions budget;
  std::string unused;
  Arguments arguments;
};

// What the options mean that don't depend on the program.
struct RunSettings {
  TrackerOptions tracker;
  SnapshotOptions snapshots;
  std::optional<RunBudget> budget;
};

Result<RunSettings> ReadSettings(const RunOptions& options) {
  RunSettings settings;
  auto tracker = ReadTrackingFlags(options.tracking);
  if (!tracker) return tl::unexpected<Error>(tracker.error());
  settings.tracker = *tracker;
  settings.tracker.mappings = options.mmap ? 1 : 0;
  auto snapshots = ReadSnapshotFlags(options.snapshots);
  if (!snapshots) return tl::unexpected<Error>(snapshots.error());
  settings.snapshots = std::move(*snapshots);
  for (const char* name : {"--path-map", "--download-limit"}) {
    if (options.symbolize || !options.budget.file.empty()) break;
    if (options.arguments.IsGiven(name)) {
      return Fail(ErrorKind::kUsage, fmt::format("{} requires --symbolize or --budget", name));
    }
  }
  if (options.budget.file.empty()) return settings;
  auto budget = RunBudget::Load(options.budget, options.symbols);
  if (!budget) return tl::unexpected<Error>(budget.error());
  settings.budget = std::move(*budget);
  return settings;
}

// The directory of the snapshots' files, where it is the same for all.
Result<void> CheckSnapshotFiles(const SnapshotOptions& options, pid_t pid) {
  const std::string one = "1", another = "2";
  const std::filesystem::path file = ExpandName(options.files, options.program, pid, &one);
  const std::filesystem::path next = ExpandName(options.files, options.program, pid, &another);
  if (file.empty() || file.parent_path() != next.parent_path()) return {};
  return CheckOutput(file, "--snapshot-files", true);
}

// Two of the run's own files would be one, however they are written.
bool AreSame(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && CanonicalName(a) == CanonicalName(b);
}

// The names that depend on the program's pid, checked before the program runs.
Result<SupervisorOptions> NameOutputs(const RunOptions& options, const RunSettings& settings,
                                      const std::string& program, pid_t pid) {
  SupervisorOptions named;
  named.program = std::filesystem::path(program).filename().string();
  named.output = ExpandName(options.output, program, pid);
  named.region = ExpandName(options.region, program, pid);
  named.overwrite = options.force;
  named.checkpoint = options.checkpoint;
  named.command_line = options.command_line;
  named.tracker = settings.tracker;
  named.snapshots = settings.snapshots;
  named.snapshots.program = program;
  named.snapshots.overwrite = options.force;
  if (auto fine = CheckSnapshotFiles(named.snapshots, pid); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  named.metrics = ExpandName(options.metrics, program, pid);
  if (!named.metrics.empty()) {
    if (AreSame(named.metrics, named.output) || AreSame(named.metrics, named.region)) {
      return Fail(ErrorKind::kUsage, "--metrics names a file of another option; give it its own");
    }
    // It is written over at each checkpoint, and by the next run.
    if (auto fine = CheckOutput(named.metrics, "--metrics", true); !fine) {
      return tl::unexpected<Error>(fine.error());
    }
  }
  if (AreSame(named.output, named.region)) {
    return Fail(ErrorKind::kUsage, "-o and --region name the same file; give each its own");
  }
  if (auto fine = CheckOutput(named.output, "-o", options.force); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  if (named.region.empty()) return named;
  if (auto fine = CheckOutput(named.region, "--region", options.force); !fine) {
    return tl::unexpected<Error>(fine.error());
  }
  return named;
}

// There is no program any more that signals are for: they end what may take long.
void GiveBackSignals(Signals& signals) {
  while (signals.Next()) {
  }
  sigprocmask(SIG_SETMASK, &signals.inherited().mask, nullptr);
}

// Stores the names in the captures that were written. They are whole without: what fails is said.
void SymbolizeCaptures(const RunOptions& options, const RunOutcome& outcome,
                       const TreeOutcome& descendants, const std::string& output) {
  std::vector<std::string> captures = outcome.executed_captures;
  captures.insert(captures.end(), descendants.files.begin(), descendants.files.end());
  if (!descendants.merge.empty()) captures.push_back(descendants.merge);
  if (outcome.written) captures.push_back(output);
  for (const std::string& capture : captures) {
    const auto symbolized = SymbolizeFile(capture, options.symbols);
    if (!symbolized) Say("no symbols are stored in {}: {}", capture, symbolized.error().message);
  }
}

// Stays with descendants, or leaves them to a process in the background, where this never returns.
TreeOutcome FinishTree(const RunOptions& options, const RunOutcome& outcome, ProcessTree& tree,
                       Signals& signals, TrackerSocket& socket, PrivateDirectory& directory,
                       const std::vector<int>& callers) {
  std::vector<std::string> captures = outcome.executed_captures;
  const Snapshot* program = outcome.written ? &*outcome.written : nullptr;
  if (options.wait) StayWithTree(tree, signals, socket, true);
  const auto where = !options.wait && AwaitTrackers(tree, signals, socket)
                         ? GoOnInBackground(tree, directory, callers)
                         : Supervising::kEnded;
  // From here on the other process reads what the tree leaves, and nobody else.
  if (where == Supervising::kElsewhere) return tree.Conclude(program, captures);
  if (where == Supervising::kInBackground) {
    StayWithTree(tree, signals, socket, false);
    tree.Settle();
    const TreeOutcome late = tree.Conclude(program, captures);
    if (options.symbolize) SymbolizeCaptures(options, {}, late, {});
    { const PrivateDirectory remove = std::move(directory); }
    _exit(0);
  }
  tree.Settle();
  return tree.Conclude(program, captures);
}

// Forks the program, starts it when all is in place, and stays with it until it ends.
int Supervise(const RunOptions& options, const RunSettings& settings, const ChildPlan& plan,
              const Preflight& preflight, Signals& signals, TrackerSocket& socket,
              ControlSocket& control, PrivateDirectory& directory,
              const std::vector<int>& callers) {
  auto child = Child::Fork(plan);
  if (!child) return Refuse(child.error().message);
  RaiseOwnLimits();
  RaiseOwnDescriptorLimit();
  auto named = NameOutputs(options, settings, preflight.name, child->pid());
  if (!named) return Refuse(named.error().message);
  named->unseen_allocator = preflight.unseen_allocator;
  auto region = named->region.empty() ? RegionFile::InMemory()
                                      : RegionFile::InFile(named->region, options.force);
  if (!region) return Refuse(region.error().message);
  InnerJemallocCache jemallocs;
  std::unique_ptr<ProcessTree> tree;
  if (options.follow_fork) {
    auto made = ProcessTree::Make({{named->output, options.force, options.max_children_files},
                                   named->tracker,
                                   {options.only, options.skip},
                                   options.command_line,
                                   named->checkpoint,
                                   socket.path()},
                                  child->pid(), jemallocs);
    if (made) {
      tree = std::move(*made);
    } else {
      Say("warning: child processes are not profiled: {}", made.error().message);
    }
  }
  if (options.wait) AdoptDescendants();
  ChildProgram program(child->pid());
  Supervisor supervisor(*named, signals, socket, control, jemallocs, program, std::move(*region),
                        tree.get());
  if (const int error = child->Start(); error != 0) {
    if (!named->region.empty()) unlink(named->region.c_str());
    return Refuse(fmt::format("{}: {}", plan.argv[0], strerror(error)),
                  error == ENOENT ? kExitNotFound : kExitCannotExecute);
  }
  RunOutcome outcome = supervisor.Run();
  TreeOutcome descendants;
  if (tree != nullptr) {
    descendants = FinishTree(options, outcome, *tree, signals, socket, directory, callers);
  }
  // What is held against a budget today is tomorrow's baseline, when the program is another.
  if (options.symbolize || settings.budget) {
    GiveBackSignals(signals);
    SymbolizeCaptures(options, outcome, descendants, named->output);
  }
  if (!options.quiet) FindKeptByRuntime(outcome);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(named->output, error);
  Conclusion conclusion =
      Conclude(outcome, named->output, error ? 0 : bytes, named->region, options.quiet);
  if (settings.budget) {
    settings.budget->Conclude(outcome, named->output, options.symbols, options.quiet, conclusion);
  }
  if (!options.quiet) {
    // Before the last line, which says why where the status is ours.
    const auto lines = TreeLines(descendants, named->output);
    conclusion.lines.insert(
        conclusion.lines.empty() ? conclusion.lines.end() : conclusion.lines.end() - 1,
        lines.begin(), lines.end());
  }
  for (const std::string& line : conclusion.lines) Say(line);
  std::fputs(conclusion.report.c_str(), stderr);
  if (!conclusion.last_line.empty()) Say(conclusion.last_line);
  return conclusion.status;
}

// What a run without a tracker has no use for; to turn off what it hasn't anyway is no mistake.
constexpr std::string_view kWithoutTracker[] = {
    "--jemalloc-prof", "--aggregate", "--output",         "--force",
    "--quiet",         "--sample",    "--mmap",           "--command-line",
    "--symbolize",     "--path-map",  "--download-limit", "--follow-fork"};
std::optional<std::string> OptionOfTheTracker(const RunOptions& options) {
  if (!options.jemalloc_prof) return std::nullopt;
  for (const std::string& name : options.arguments.GivenOptions()) {
    const bool fits = std::find(std::begin(kWithoutTracker), std::end(kWithoutTracker), name) !=
                      std::end(kWithoutTracker);
    if (!fits) return name;
  }
  return std::nullopt;
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

// What root starts may give up root and execute something, whose tracker must reach the socket.
// That lets in who is of this run (TrackerSocket), and the directory stays ours.
Result<void> OpenToOtherUsers(const PrivateDirectory& directory, const TrackerSocket& socket) {
  if (geteuid() != 0) return {};
  if (chmod(directory.path().c_str(), 0711) != 0 || chmod(socket.path().c_str(), 0666) != 0) {
    return Fail(ErrorKind::kIo, fmt::format("{}: {}", socket.path(), strerror(errno)));
  }
  return {};
}

int Run(const RunOptions& options) {
  HoldStandardDescriptors();
  const std::vector<int> callers = OpenDescriptors();
  std::vector<std::string> argv = options.arguments.CommandLine();
  if (!argv.empty() && argv[0] == "--") {
    argv.erase(argv.begin());
  } else if (!argv.empty() && argv[0].starts_with("-")) {
    return Refuse(fmt::format("run has no option {}; see memprof run --help", argv[0]));
  }
  if (argv.empty() || argv[0].empty()) {
    return Refuse("no program given; try: memprof run ./program");
  }

  const auto settings = ReadSettings(options);
  if (!settings) return Refuse(settings.error().message);
  if (const auto name = OptionOfTheTracker(options)) {
    return Refuse(*name + " is for memprof's own counting, and --jemalloc-prof does without");
  }
  const auto preflight = CheckProgram(argv, ProgramSearchPath());
  if (!preflight) return Refuse(preflight.error().message, preflight.error().status);
  if (options.jemalloc_prof) return RunWithProfile(options, *settings, *preflight, argv);
  const auto preload = FindPreload();
  if (!preload) return Refuse(preload.error().message);
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
  Signals signals;
  const ChildPlan plan = {preflight->path, argv, EnvironmentWith(*preloadable, socket->path()),
                          signals.inherited()};
  return Supervise(options, *settings, plan, *preflight, signals, *socket, *control, *directory,
                   callers);
}

}  // namespace

CommandBody SetUpRun(Arguments& arguments) {
  auto options = std::make_shared<RunOptions>();
  options->arguments = arguments;
  arguments.AddFlag("--aggregate", options->aggregate,
                    "Leave figures per place, not a record per allocation (what run always does)");
  arguments.Add("-o,--output", options->output, "The capture's file; %p is the pid, %n the program")
      .TypeName("FILE")
      .ShowDefault();
  arguments.AddFlag("-f,--force", options->force, "Overwrite an existing capture");
  arguments.AddFlag("-q,--quiet", options->quiet, "Say nothing at the end unless memprof failed");
  AddCheckpointOption(arguments, options->checkpoint);
  arguments
      .Add("--region", options->region,
           "Keep the counts in this file while the program runs: nothing is lost even if "
           "memprof is killed too; reports read it")
      .TypeName("FILE");
  AddCommandLineOption(arguments, options->command_line);
  AddTrackingOptions(arguments, options->tracking);
  arguments.AddFlag("--follow-fork,!--no-follow-fork", options->follow_fork,
                    "Profile every process that the program starts, too (the default): FILE.PID of "
                    "each, and FILE.all of all together; --no-follow-fork: the program alone");
  arguments
      .Add("--only", options->only,
           "Of the tree, profile programs of this name (a shell's pattern) alone; repeatable")
      .TypeName("PATTERN")
      .OneValueEach();
  arguments.Add("--skip", options->skip, "… all but programs of this name; repeatable")
      .TypeName("PATTERN")
      .OneValueEach();
  arguments
      .Add("--max-children-files", options->max_children_files,
           "So many captures of child processes, those of the heaviest; the others are in the "
           "one of all together")
      .TypeName("N")
      .ShowDefault();
  arguments.AddFlag(
      "--wait", options->wait,
      "Stay until every process that is profiled has ended, not the program alone; orphans "
      "have memprof as their parent then");
  arguments.AddFlag(
      "--mmap,!--no-mmap", options->mmap,
      "Follow what the program maps itself (mmap, mremap, brk), apart from its heap; the "
      "default. It costs some microseconds a call");
  arguments.AddFlag(
      "--jemalloc-prof", options->jemalloc_prof,
      "Count nothing, and take the sampled profile that the program's own jemalloc writes "
      "at exit: what is live then, and what was allocated in all, of its heap. For a "
      "jemalloc inside the program that can't be hooked");
  AddSnapshotOptions(arguments, options->snapshots);
  arguments
      .Add("--metrics", options->metrics,
           "Write the figures to this file for Prometheus, at each checkpoint and at the end")
      .TypeName("FILE");
  arguments.AddFlag(
      "--symbolize", options->symbolize,
      "At the end, store functions, files and lines in the capture, so that other machines "
      "can report without the binaries");
  AddSymbolOptions(arguments, options->symbols);
  Option budget =
      arguments
          .Add("--budget", options->budget.file,
               "At the end, hold the capture against this budget file; exit status 1 if it "
               "is over. As --symbolize, since it may be another run's baseline")
          .TypeName("FILE");
  arguments
      .Add("--baseline", options->budget.baseline,
           "The capture that limits like \"+5%\" are against")
      .TypeName("CAPTURE")
      .Needs(budget);
  arguments
      .AddTaken(
          "--exit-status",
          [options](const std::string& of) -> Result<void> {
            if (of != "program" && of != "budget") {
              return Fail(ErrorKind::kUsage,
                          "'" + of + "' has no exit status; write program or budget");
            }
            options->budget.decides = of == "budget";
            return {};
          },
          "Whose status is memprof's: the program's (which wins unless it is 0), or the budget's "
          "alone: 0, 1, or 125 if there is no verdict")
      .TypeName("program|budget")
      .Needs(budget);
  // All from the first word that is no option of ours belongs to the program: prefix_command. The
  // positional takes nothing (CLI11 would split words like "[a,b]"); it is there for the help, and
  // since CLI11 hands what follows "--" to a command that has positionals left.
  arguments.EndWithCommandLine();
  arguments.Add("PROGRAM", options->unused, "What to run, with its arguments")
      .TypeName("[ARGS...]")
      .Check([](const std::string&) { return std::string("left to prefix_command"); });
  return [options] { return Run(*options); };
}

}  // namespace memprof
