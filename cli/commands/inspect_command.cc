// memprof inspect: which live blocks of a running program are lost, and what holds the others.

#include <chrono>
#include <memory>
#include <string>

#include "cli/basics/ascii_text.h"
#include "cli/basics/message.h"
#include "cli/basics/option_checks.h"
#include "cli/basics/time_option.h"
#include "cli/commands/commands.h"
#include "cli/inspect/inspection_text.h"
#include "cli/live/runs.h"
#include "cli/symbols/symbol_options.h"
#include "cli/terminal/output.h"

namespace memprof {
namespace {

struct InspectCommandOptions {
  std::string target;
  std::chrono::milliseconds longest_pause{500};
  uint32_t process = 0;
  size_t rows = 8;
  Option rows_option;
  bool once = false;
  bool json = false;
  bool quiet = false;
  SymbolOptions symbols;
  OutputOptions output;
};

int InspectRun(const InspectCommandOptions& options) {
  if (const auto fine = CheckOutput(options.output); !fine) return ExitStatusOf(fine.error());
  const auto run = FindRun(options.target);
  if (!run) return ExitStatusOf(run.error());
  HeapInspectionOptions how;
  how.looks = options.once ? 1 : 2;
  how.longest_pause = options.longest_pause;
  if (!options.quiet) how.say = [](const std::string& text) { Say(text); };
  // The pid that was given may be that of a descendant.
  auto pid = static_cast<pid_t>(options.process);
  for (const ShownProcess& process : run->run.processes) {
    if (pid == 0 && std::to_string(process.pid) == options.target) pid = process.pid;
  }
  const auto symbolizer = MakeSymbolizer(MakeSymbolizerOptions(options.symbols));
  const auto inspection = InspectHeap(*run, pid, *symbolizer, how);
  if (!inspection) return ExitStatusOf(inspection.error());
  const bool has_rows = options.rows_option.count() != 0;
  return WriteOutput(
      options.output,
      options.json ? InspectionJson(*inspection, has_rows ? options.rows : 0)
                   : ForLocale(InspectionText(*inspection, options.rows, StyleOf(options.output))));
}

}  // namespace

CommandBody SetUpInspect(Arguments& arguments) {
  auto options = std::make_shared<InspectCommandOptions>();
  arguments
      .Add("run", options->target,
           "The program's pid, that of its memprof run, or the run's capture or region (default: "
           "the "
           "only run there is)")
      .TypeName("PID|CAPTURE");
  arguments.Add("--process", options->process, "Another process of the run (default: the program)")
      .TypeName("PID");
  AddTimeOption(arguments, "--max-pause", options->longest_pause,
                "Refuse if the program is expected to stand still for longer");
  arguments.AddFlag("--once", options->once,
                    "One look: a block that only this moment calls lost is called lost");
  options->rows_option =
      arguments.Add("-n,--rows", options->rows, "At most so many rows of each table; 0: all")
          .ShowDefault()
          .Check(RowCount);
  arguments.AddFlag("--json", options->json, "JSON, with all rows unless -n is given");
  arguments.AddFlag("-q,--quiet", options->quiet, "Don't announce the pause");
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  AddOutputOptions(arguments, options->output);
  return [options] { return InspectRun(*options); };
}

}  // namespace memprof
