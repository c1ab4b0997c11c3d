#include "cli/reports/flamegraph.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli/reports/load.h"
#include "cli/reports/output.h"
#include "cli/reports/trust.h"
#include "cli/web/page.h"

namespace memprof {
namespace {

struct FlamegraphOptions {
  std::string capture;
  bool leaks = false;
  SymbolOptions symbols;
  OutputOptions output;
};

int Flamegraph(const FlamegraphOptions& options) {
  OutputOptions output = options.output;
  if (output.file.empty()) output.file = options.capture + ".html";
  const auto profile = LoadProfile(options.capture, options.symbols);
  if (!profile) return ExitStatusOf(profile.error());

  SayMoment(*profile);
  PageOptions page;
  page.mode = options.leaks ? PageMode::kLeaked : PageMode::kPeak;
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
  app.add_flag("--leaks", options->leaks, "Show first what was never freed (the page has both)");
  options->symbols.names_packages = true;
  AddSymbolOptions(app, options->symbols);
  app.add_option("-o,--output", options->output.file, "The page (default: CAPTURE.html)");
  app.add_flag("-f,--force", options->output.force, "Overwrite an existing file");
  return [options] { return Flamegraph(*options); };
}

}  // namespace memprof
