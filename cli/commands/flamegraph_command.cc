// memprof flamegraph: the capture as one HTML file that works offline (cli/web/page.h).

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/commands/options/figure_options.h"
#include "cli/commands/options/view_options.h"
#include "cli/load/load.h"
#include "cli/reports/exactness.h"
#include "cli/reports/report.h"
#include "cli/reports/statistics.h"
#include "cli/reports/summary_text.h"
#include "cli/terminal/output.h"
#include "cli/web/page.h"
#include "cli/web/source_lines.h"

namespace memprof {
namespace {

struct FlamegraphOptions {
  Captures captures;
  FigureOptions which;  // the figure shown first; the page has all
  SymbolOptions symbols;
  OutputOptions output;
};

int Flamegraph(const FlamegraphOptions& options) {
  OutputOptions output = options.output;
  // The page is written beside the capture. For several captures that would look like the first
  // one's page.
  if (output.file.empty() && options.captures.names.size() > 1) {
    return ExitStatusOf({ErrorKind::kUsage, "of several captures; name the page with -o"});
  }
  if (output.file.empty()) output.file = options.captures.names[0] + ".html";
  if (const auto free = CheckOutput(output); !free) return ExitStatusOf(free.error());
  // The page has all frames, and shows those of an interpreter on request.
  SymbolOptions symbols = options.symbols;
  symbols.native_frames = true;
  const auto profile = LoadProfile(options.captures, symbols);
  if (!profile) return ExitStatusOf(profile.error());

  if (options.which.temporary && profile->tracker.temporary_threshold == 0) {
    return ExitStatusOf(
        {ErrorKind::kUnreadable, NoTemporaryText(TextOfNames(options.captures.names))});
  }
  SayChosen(*profile);
  PageOptions page;
  page.mode = options.which.figure();
  page.native_frames = options.symbols.native_frames;
  page.capture = std::filesystem::path(TextOfNames(options.captures.names)).filename().string();
  page.warnings = ProcessLines(*profile);
  for (const std::string& doubt : ExactnessNotes(*profile)) page.warnings.push_back(doubt);
  if (!profile->sources.empty()) page.run = MergeText(profile->sources);
  page.statistics = StatisticsOf(*profile);
  SourceLines source(profile->program.start_unix_ms +
                     static_cast<int64_t>(profile->program.duration_ms));
  if (!options.symbols.no_binaries) {
    page.source_line = [&](const std::string& file, uint32_t line) {
      return source.Text(file, line);
    };
  }
  const int status = WriteOutput(output, MakePage(*profile, page));
  if (status != kExitFine) return status;
  // Prints only the name, so that `xdg-open "$(memprof flamegraph x.memprof)"` works.
  OutputOptions to_stdout;
  return WriteOutput(to_stdout, output.file + "\n");
}

}  // namespace

CommandBody SetUpFlamegraph(Arguments& arguments) {
  const auto options = std::make_shared<FlamegraphOptions>();
  AddCaptures(arguments, options->captures);
  AddFigureOptions(arguments, options->which);
  options->symbols.names_packages = true;
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  arguments.Add("-o,--output", options->output.file, "The page (default: CAPTURE.html)")
      .TypeName("FILE");
  arguments.AddFlag("-f,--force", options->output.force, "Overwrite an existing file");
  return [options] { return Flamegraph(*options); };
}

}  // namespace memprof
