#include "cli/symbols/symbol_options.h"

#include <memory>

#include "cli/symbols/debug_packages.h"
#include "cli/symbols/terminal_progress.h"
#include "cli/time_option.h"

namespace memprof {

void AddSymbolOptions(CLI::App& app, SymbolOptions& options) {
  // Not a vector: CLI11 would split "[a,b]" and take what follows for more of them.
  app.add_option_function<std::string>(
         "--path-map",
         [&options](const std::string& rule) {
           if (const auto added = options.paths.Add(rule); !added) {
             throw CLI::ValidationError("--path-map", added.error().message);
           }
         },
         "Show source paths below OLD as below NEW; an empty NEW trims them. Repeatable: the first "
         "that fits")
      ->type_name("OLD=NEW")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->trigger_on_parse();
  AddTimeOption(app, "--download-limit", options.download_limit,
                "Spend at most TIME on downloads from DEBUGINFOD_URLS; 0: download nothing");
  app.add_flag(
      "--no-binaries", options.no_binaries,
      "Read no binary that the capture names, nor its debug info: for captures of strangers");
}

SymbolizerOptions MakeSymbolizerOptions(const SymbolOptions& options) {
  SymbolizerOptions made;
  made.download_limit = options.download_limit;
  made.reads_files = !options.no_binaries;
  if (options.names_packages) made.packages_of = DebugPackageOfEach;
  if (TerminalProgress::Wanted()) {
    made.progress = [progress = std::make_shared<TerminalProgress>()](
                        const SymbolizerProgress& now) { progress->Show(now); };
  }
  return made;
}

}  // namespace memprof
