#include "cli/reports/flamegraph.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/reports/figure_options.h"
#include "cli/reports/load.h"
#include "cli/reports/output.h"
#include "cli/reports/report.h"
#include "cli/reports/trust.h"
#include "cli/web/page.h"

namespace memprof {
namespace {

struct FlamegraphOptions {
  std::string capture;
  FigureOptions which;  // shown first; the page has all
  SymbolOptions symbols;
  OutputOptions output;
};

int Flamegraph(const FlamegraphOptions& options) {
  OutputOptions output = options.output;
  if (output.file.empty()) output.file = options.capture + ".html";
  if (const auto free = CheckOutput(output); !free) return ExitStatusOf(free.error());
  const auto profile = LoadProfile(options.capture, options.symbols);
  if (!profile) return ExitStatusOf(profile.error());

  if (options.which.temporary && profile->tracker.temporary_threshold == 0) {
    return ExitStatusOf({ErrorKind::kUnreadable, NoTemporaryText(options.capture)});
  }
  SayMoment(*profile);
  PageOptions page;
  page.mode = options.which.figure();
  page.capture = std::filesystem::path(options.capture).filename().string();
  page.warnings = TrustLines(*profile);
  const int status = WriteOutput(output, MakePage(*profile, page));
  if (status != kExitFine) return status;
  // The name alone, so that `xdg-open "$(memprof flamegraph x.memprof)"` works.
  OutputOptions to_stdout;
  return WriteOutput(to_stdout, output.file + "\n");
}

}  // namespace

CommandBody SetUpFlamegraph(CLI::App& app) {
  const auto options = std::make_shared<FlamegraphOptions>();
  app.add_option("capture", options->capture, "A capture, or a region file of run --region")
      ->required();
  AddFigureOptions(app, options->which);
  options->symbols.names_packages = true;
  AddSymbolOptions(app, options->symbols);
  app.add_option("-o,--output", options->output.file, "The page (default: CAPTURE.html)");
  app.add_flag("-f,--force", options->output.force, "Overwrite an existing file");
  return [options] { return Flamegraph(*options); };
}

}  // namespace memprof
