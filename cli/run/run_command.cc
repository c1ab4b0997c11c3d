#include "cli/run/run_command.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/message.h"
#include "cli/option_checks.h"
#include "cli/run/child.h"
#include "cli/run/conclusion.h"
#include "cli/run/exit_status.h"
#include "cli/run/output_name.h"
#include "cli/run/preflight.h"
#include "cli/run/preload.h"
#include "cli/run/private_directory.h"
#include "cli/run/region_file.h"
#include "cli/run/signals.h"
#include "cli/run/standard_descriptors.h"
#include "cli/run/supervisor.h"
#include "cli/run/tracker_socket.h"
#include "cli/symbols/symbolize_capture.h"
#include "core/units.h"

namespace memprof {
namespace {

struct RunOptions {
  bool aggregate = false;
  bool force = false;
  bool quiet = false;
  std::string output = kDefaultOutput;
  std::string region;
  unsigned checkpoint_seconds = 30;
  bool exact_peak = false;
  std::string sample;  // empty: every event is counted
  uint32_t temporary_threshold = 1;
  bool symbolize = false;
  SymbolOptions symbols;
  std::string unused;
  CLI::App* app = nullptr;
};

int Refuse(const std::string& why, int status = kExitRefused) {
  Say(why);
  return status;
}

// Another one each time. Without the kernel's help (before 3.17) by the clock.
uint64_t AnySeed() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof seed))
    return seed;
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// The names that depend on the program's pid, checked before the program runs.
Result<SupervisorOptions> NameOutputs(const RunOptions& options, const std::string& program,
                                      pid_t pid) {
  SupervisorOptions named;
  named.program = std::filesystem::path(program).filename().string();
  named.output = ExpandName(options.output, program, pid);
  named.region = ExpandName(options.region, program, pid);
  named.overwrite = options.force;
  named.checkpoint = std::chrono::seconds(options.checkpoint_seconds);
  named.tracker.exact_peak = options.exact_peak ? 1 : 0;
  if (!options.sample.empty()) named.tracker.sample_bytes = *ParseBytes(options.sample);
  if (named.tracker.sample_bytes != 0) named.tracker.sample_seed = AnySeed();
  named.tracker.temporary_threshold = options.temporary_threshold;
  if (named.tracker.sample_bytes != 0 && options.temporary_threshold != 1) {
    return Fail(ErrorKind::kUsage,
                "--temporary above 1 needs every event, and --sample leaves most out; give one");
  }
  if (named.output == named.region) {
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

// Stores the names in the captures that were written. They are whole without: what fails is said.
void SymbolizeCaptures(const RunOptions& options, const RunOutcome& outcome,
                       const std::string& output, Signals& signals) {
  std::vector<std::string> captures = outcome.executed_captures;
  if (outcome.written) captures.push_back(output);
  // There is no program any more that signals are for: they end what may take long.
  while (signals.Next()) {
  }
  sigprocmask(SIG_SETMASK, &signals.inherited().mask, nullptr);
  for (const std::string& capture : captures) {
    const auto symbolized = SymbolizeFile(capture, options.symbols);
    if (!symbolized) Say("no symbols are stored in {}: {}", capture, symbolized.error().message);
  }
}

// Forks the program, starts it when all is in place, and stays with it until it ends.
int Supervise(const RunOptions& options, const ChildPlan& plan, Signals& signals,
              TrackerSocket& socket) {
  auto child = Child::Fork(plan);
  if (!child) return Refuse(child.error().message);
  RaiseOwnFileSizeLimit();
  const auto named = NameOutputs(options, plan.argv[0], child->pid());
  if (!named) return Refuse(named.error().message);
  auto region = named->region.empty() ? RegionFile::InMemory()
                                      : RegionFile::InFile(named->region, options.force);
  if (!region) return Refuse(region.error().message);
  Supervisor supervisor(*named, signals, socket, child->pid(), std::move(*region));
  if (const int error = child->Start(); error != 0) {
    if (!named->region.empty()) unlink(named->region.c_str());
    return Refuse(fmt::format("{}: {}", plan.argv[0], strerror(error)),
                  error == ENOENT ? kExitNotFound : kExitCannotExecute);
  }
  const RunOutcome outcome = supervisor.Run();
  if (options.symbolize) SymbolizeCaptures(options, outcome, named->output, signals);
  std::error_code error;
  const auto bytes = std::filesystem::file_size(named->output, error);
  const Conclusion conclusion =
      Conclude(outcome, named->output, error ? 0 : bytes, named->region, options.quiet);
  for (const std::string& line : conclusion.lines) Say(line);
  return conclusion.status;
}

int Run(const RunOptions& options) {
  HoldStandardDescriptors();
  std::vector<std::string> argv = options.app->remaining();
  if (!argv.empty() && argv[0] == "--") {
    argv.erase(argv.begin());
  } else if (!argv.empty() && argv[0].starts_with("-")) {
    return Refuse(fmt::format("run has no option {}; see memprof run --help", argv[0]));
  }
  if (argv.empty() || argv[0].empty()) {
    return Refuse("no program given; try: memprof run ./program");
  }

  const auto preflight = CheckProgram(argv[0], ProgramSearchPath());
  if (!preflight) return Refuse(preflight.error().message, preflight.error().status);
  const auto preload = FindPreload();
  if (!preload) return Refuse(preload.error().message);
  auto directory = PrivateDirectory::Make();
  if (!directory) return Refuse(directory.error().message);
  auto socket = TrackerSocket::Open(*directory);
  if (!socket) return Refuse(socket.error().message);
  const auto preloads = PreloadsFor(*preflight, *preload);
  if (!preloads) return Refuse(preloads.error().message);
  const auto preloadable = PreloadablePaths(*preloads, *directory);
  if (!preloadable) return Refuse(preloadable.error().message);
  if (!options.quiet) {
    for (const std::string& warning : preflight->warnings) Say("warning: {}", warning);
  }
  Signals signals;
  const ChildPlan plan = {preflight->path, argv, EnvironmentWith(*preloadable, socket->path()),
                          signals.inherited()};
  return Supervise(options, plan, signals, *socket);
}

}  // namespace

CommandBody SetUpRun(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  options->app = &app;
  app.add_flag("--aggregate", options->aggregate,
               "Leave figures per place, not a record per allocation (what run always does)");
  app.add_option("-o,--output", options->output,
                 "The capture's file; %p is the pid, %n the program")
      ->capture_default_str();
  app.add_flag("-f,--force", options->force, "Overwrite an existing capture");
  app.add_flag("-q,--quiet", options->quiet, "Say nothing at the end unless memprof failed");
  app.add_option("--checkpoint", options->checkpoint_seconds,
                 "Write the capture every SECONDS while the program runs; 0: only at its end")
      ->check(Seconds, "", "")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--region", options->region,
                 "Keep the counts in this file while the program runs: nothing is lost even if "
                 "memprof is killed too; reports read it");
  app.add_option("--sample", options->sample,
                 "Count samples only, one block in BYTES (512K, 2 MiB) on average, at next to no "
                 "cost: figures are then estimates, and reports give their standard error; 0: all")
      ->check(SampleDistance, "", "")
      ->type_name("BYTES");
  app.add_option("--temporary", options->temporary_threshold,
                 "Take a block for temporary if its thread frees it and allocated fewer than so "
                 "many others meanwhile; 1 to 64")
      ->check(TemporaryThreshold, "", "")
      ->type_name("ALLOCATIONS")
      ->capture_default_str();
  app.add_flag("--exact-peak", options->exact_peak,
               "Order all events of all threads, so that the peak is exact to the byte; without it "
               "the peak of a heap of several threads is within 0.1 %, and the capture says so");
  app.add_flag(
      "--symbolize", options->symbolize,
      "At the end, store functions, files and lines in the capture, so that other machines "
      "can report without the binaries");
  AddSymbolOptions(app, options->symbols);
  for (const char* name : {"--path-map", "--download-limit"}) {
    app.get_option(name)->needs("--symbolize");
  }
  // All from the first word that is no option of ours belongs to the program: prefix_command. The
  // positional takes nothing (CLI11 would split words like "[a,b]"); it is there for the help, and
  // since CLI11 hands what follows "--" to a command that has positionals left.
  app.prefix_command();
  app.validate_positionals();
  app.add_option("PROGRAM", options->unused, "What to run, with its arguments")
      ->type_name("[ARGS...]")
      ->check([](const std::string&) { return std::string("left to prefix_command"); }, "", "");
  return [options] { return Run(*options); };
}

}  // namespace memprof
