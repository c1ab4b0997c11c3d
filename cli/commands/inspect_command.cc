// memprof inspect: which live blocks of a running program are lost, and what holds the others; or what a
// capture keeps of that.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/basics/ascii_text.h"
#include "cli/basics/message.h"
#include "cli/basics/option_checks.h"
#include "cli/basics/time_option.h"
#include "cli/commands/commands.h"
#include "cli/inspect/heap_inspection.h"
#include "cli/live/runs.h"
#include "cli/load/load.h"
#include "cli/reports/inspection/inspection_text.h"
#include "cli/symbols/symbol_options.h"
#include "cli/terminal/output.h"
#include "core/profile/profile.h"
#include "formats/capture/capture_writer.h"

namespace memprof {
namespace {

struct InspectCommandOptions {
  std::string target;
  std::chrono::milliseconds longest_pause{500};
  uint32_t process = 0;
  size_t rows = 6;
  Option rows_option;
  bool once = false;
  bool stop = false;
  bool json = false;
  bool quiet = false;
  SymbolOptions symbols;
  OutputOptions capture = {.has_capture = true};  // empty: none is written
};

int Print(const InspectCommandOptions& options, const Profile& profile) {
  const OutputOptions standard;
  const bool has_rows = options.rows_option.count() != 0;
  return WriteOutput(
      standard, options.json ? InspectionJson(profile, has_rows ? options.rows : 0)
                             : ForLocale(InspectionText(profile, options.rows, StyleOf(standard))));
}

// The answer that a capture has kept. `no_run`: why nothing that runs can be asked.
int PrintKept(const InspectCommandOptions& options, const Error& no_run) {
  if (options.target.empty() || !std::filesystem::exists(options.target)) {
    return ExitStatusOf(no_run);
  }
  if (!options.capture.file.empty()) {
    return ExitStatusOf(
        {ErrorKind::kUsage, options.target + ": its run has ended; -o is for one that runs"});
  }
  const auto profile = LoadProfile(options.target, options.symbols);
  if (!profile) return ExitStatusOf(profile.error());
  if (profile->inspection.looks == 0) {
    return ExitStatusOf({ErrorKind::kUsage,
                         options.target +
                             ": no inspection is in this capture, and its run has ended; inspect a "
                             "run while it goes on, with -o to keep the answer"});
  }
  return Print(options, *profile);
}

int InspectRun(const InspectCommandOptions& options) {
  const bool keeps = !options.capture.file.empty();
  if (keeps) {
    if (const auto fine = CheckOutput(options.capture); !fine) return ExitStatusOf(fine.error());
  }
  const auto run = FindRun(options.target);
  if (!run) return PrintKept(options, run.error());
  HeapInspectionOptions how;
  how.looks = options.once ? 1 : 2;
  how.how = options.stop ? FrozenBy::kStopping : FrozenBy::kCopying;
  how.longest_pause = options.longest_pause;
  if (!options.quiet) how.say = [](const std::string& text) { Say(text); };
  // The pid that was given may be that of a descendant.
  auto pid = static_cast<pid_t>(options.process);
  for (const ShownProcess& process : run->run.processes) {
    if (pid == 0 && std::to_string(process.pid) == options.target) pid = process.pid;
  }
  const auto inspection = InspectHeap(*run, pid, how);
  if (!inspection) return ExitStatusOf(inspection.error());
  if (keeps) {
    const auto capture = inspection->Capture();
    if (!capture) return ExitStatusOf(capture.error());
    if (const auto written = WriteCaptureFile(options.capture.file, *capture); !written) {
      return ExitStatusOf(written.error());
    }
  }
  const auto symbolizer = MakeSymbolizer(MakeSymbolizerOptions(options.symbols));
  return Print(options, MakeProfile(*inspection->stacks, *symbolizer));
}

}  // namespace

CommandBody SetUpInspect(Arguments& arguments) {
  auto options = std::make_shared<InspectCommandOptions>();
  arguments
      .Add("run", options->target,
           "The program's pid, that of its memprof run, or the run's capture or region (default: "
           "the only run there is); or a capture that keeps an inspection")
      .TypeName("PID|CAPTURE");
  arguments.Add("--process", options->process, "Another process of the run (default: the program)")
      .TypeName("PID");
  AddTimeOption(arguments, "--max-pause", options->longest_pause,
                "Refuse if the program is expected to stand still for longer");
  arguments.AddFlag("--once", options->once,
                    "One look: a block that only this moment calls lost is called lost");
  arguments.AddFlag("--stop", options->stop,
                    "Let the program stand still while it is looked at, where no copy can be made");
  options->rows_option =
      arguments.Add("-n,--rows", options->rows, "At most so many rows of each table; 0: all")
          .ShowDefault()
          .Check(RowCount);
  arguments.AddFlag("--json", options->json, "JSON, with all rows unless -n is given");
  arguments.AddFlag("-q,--quiet", options->quiet, "Don't announce the pause");
  arguments
      .Add(
          "-o,--output", options->capture.file,
          "Also write a capture of now, which keeps the answer: for inspect, check and all reports")
      .TypeName("CAPTURE");
  arguments.AddFlag("-f,--force", options->capture.force, "Replace the capture if it exists");
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  return [options] { return InspectRun(*options); };
}

}  // namespace memprof
