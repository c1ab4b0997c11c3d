#include "cli/commands/run/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/basics/option_checks.h"
#include "cli/basics/time_option.h"
#include "cli/preflight/python_command.h"

namespace memprof {
namespace {

// Options that have no use in a run without a tracker. Turning off a thing that isn't there is no
// mistake.
constexpr std::string_view kWithoutTracker[] = {
    "--jemalloc-prof", "--aggregate", "--output",         "--force",
    "--quiet",         "--sample",    "--mmap",           "--command-line",
    "--symbolize",     "--path-map",  "--download-limit", "--follow-fork"};

}  // namespace

Result<RunSettings> ReadRunSettings(const RunOptions& options) {
  RunSettings settings;
  auto tracker = ReadTrackingFlags(options.tracking);
  if (!tracker) return tl::unexpected<Error>(tracker.error());
  settings.tracker = *tracker;
  settings.tracker.mappings = options.mmap ? 1 : 0;
  auto named_moments = ReadNamedMomentFlags(options.named_moments);
  if (!named_moments) return tl::unexpected<Error>(named_moments.error());
  settings.named_moments = std::move(*named_moments);
  auto inspections = ReadInspectionFlags(options.inspections);
  if (!inspections) return tl::unexpected<Error>(inspections.error());
  settings.inspections = std::move(*inspections);
  if (settings.inspections.inspect && settings.tracker.sample_bytes != 0) {
    return Fail(ErrorKind::kUsage,
                "with --sample most live blocks aren't known; inspect a run without it");
  }
  settings.tracker.look_at_exit = settings.inspections.at_exit ? 1 : 0;
  for (const char* name : {"--allow-remote", "--token-file", "--host"}) {
    if (options.serve.address.empty() && options.arguments.IsGiven(name)) {
      return Fail(ErrorKind::kUsage, fmt::format("{} requires --serve", name));
    }
  }
  if (!options.serve.address.empty()) {
    auto plan = ReadServeFlags(options.serve, "--serve");
    if (!plan) return tl::unexpected<Error>(plan.error());
    settings.serve = std::move(*plan);
  }
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

Result<std::vector<std::string>> CommandLineOf(const RunOptions& options) {
  std::vector<std::string> argv = options.arguments.CommandLine();
  if (!argv.empty() && argv[0] == "--") argv.erase(argv.begin());
  if (argv.empty() || argv[0].empty()) {
    return Fail(ErrorKind::kUsage, "no program given; try: memprof run ./program");
  }
  if ((argv[0] == "-m" || argv[0] == "-c") && argv.size() == 1) {
    return Fail(ErrorKind::kUsage,
                fmt::format("{} needs {} behind it", argv[0],
                            argv[0] == "-m" ? "a Python module" : "Python code"));
  }
  return CompletePythonCommand(std::move(argv), options.python);
}

std::optional<std::string> OptionOfTheTracker(const RunOptions& options) {
  if (!options.jemalloc_prof) return std::nullopt;
  for (const std::string& name : options.arguments.GivenOptions()) {
    const bool fits = std::find(std::begin(kWithoutTracker), std::end(kWithoutTracker), name) !=
                      std::end(kWithoutTracker);
    if (!fits) return name;
  }
  return std::nullopt;
}

void AddRunOptions(Arguments& arguments, const std::shared_ptr<RunOptions>& options) {
  options->arguments = arguments;
  arguments.AddFlag("--aggregate", options->aggregate,
                    "Leave figures per place, not a record per allocation (what run always does)");
  AddCaptureFileOptions(arguments, options->output, options->force);
  arguments.AddFlag("-q,--quiet", options->quiet, "Say nothing at the end unless memprof failed");
  arguments.AddFlag(
      "--live", options->live,
      "Show memprof top meanwhile. The program's input is /dev/null; its output is in a "
      "pane, and is printed when the view is left");
  AddCheckpointOption(arguments, options->checkpoint);
  AddTimeOption(
      arguments, "--timeout", options->timeout,
      "End the program and its children after this time: SIGTERM, and SIGKILL 10 s later; "
      "the captures are written, and the exit status is 124; 0: never");
  arguments
      .Add("--region", options->region,
           "Keep the counts in this file while the program runs: nothing is lost even if "
           "memprof is killed too; reports read it")
      .TypeName("FILE");
  AddCommandLineOption(arguments, options->command_line);
  AddTrackingOptions(arguments, options->tracking);
  AddPythonAllocatorsOption(arguments, options->tracking);
  arguments
      .Add("--python", options->python,
           "The interpreter for script.py, -m MODULE and -c CODE in place of a program (default: "
           "by the script's first line, the active virtual environment, else python3)")
      .TypeName("PATH");
  arguments.AddFlag(
      "--follow-fork,!--no-follow-fork", options->follow_fork,
      "Profile every process that the program starts, too (the default): FILE.all has "
      "all together; --no-follow-fork: the program alone");
  arguments
      .Add("--only", options->only,
           "Of the tree, profile programs of this name (a shell's pattern) alone; repeatable")
      .TypeName("PATTERN")
      .OneValueEach();
  arguments.Add("--skip", options->skip, "… all but programs of this name; repeatable")
      .TypeName("PATTERN")
      .OneValueEach();
  arguments
      .Add("--children-files,--max-children-files", options->children_files,
           "Also leave the captures of so many child processes and earlier images, those of the "
           "heaviest; the one of all together has each")
      .TypeName("N")
      .ShowDefault()
      .Check(ChildrenFileCount);
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
  AddNamedMomentOptions(arguments, options->named_moments);
  AddInspectionOptions(arguments, options->inspections);
  arguments
      .Add("--metrics", options->metrics,
           "Write the figures to this file for Prometheus, at each checkpoint and at the end")
      .TypeName("FILE");
  AddServeOptions(
      arguments, "--serve",
      "While the program runs, answer HTTP here: the heap profile, metrics, and the page; "
      "127.0.0.1:9090, [::1]:0 (any free port), or unix:/path",
      options->serve);
  arguments.AddFlag(
      "--symbolize", options->symbolize,
      "At the end, store functions, files and lines in the capture, so that other machines "
      "can report without the binaries");
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  Option budget =
      arguments
          .Add("--budget", options->budget.file,
               "At the end, hold the capture against this budget file; exit status 1 if it "
               "is over. As --symbolize, since it may be another run's baseline")
          .TypeName("FILE");
  arguments
      .Add(
          "--baseline", options->budget.baselines,
          "The capture that limits like \"+5%\" are against, or a folder of kept ones; repeatable: "
          "against the median")
      .TypeName("CAPTURE|FOLDER")
      .OneValueEach()
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
  arguments
      .AddTaken(
          "--budget-of",
          [options](const std::string& of) -> Result<void> {
            constexpr std::pair<std::string_view, BudgetOf> kChoices[] = {
                {"tree", BudgetOf::kTree},
                {"program", BudgetOf::kProgram},
                {"each", BudgetOf::kEach}};
            for (const auto& [name, what] : kChoices) {
              if (of != name) continue;
              options->budget.of = what;
              return {};
            }
            return Fail(ErrorKind::kUsage,
                        "'" + of + "' has no budget; write tree, program or each");
          },
          "What is held against it: the program with all that it started (the default), the "
          "program alone, or each process on its own")
      .TypeName("tree|program|each")
      .Needs(budget);
  // From the first word that is no option of ours, everything belongs to the program:
  // prefix_command. The positional takes nothing (CLI11 would split words like "[a,b]"). It is
  // needed for the help, and because CLI11 passes the words after "--" to a command that has
  // positionals left.
  arguments.EndWithCommandLine();
  arguments.Add("PROGRAM", options->unused, "What to run, with its arguments")
      .TypeName("[ARGS...]")
      .Check([](const std::string&) { return std::string("left to prefix_command"); });
}

}  // namespace memprof
