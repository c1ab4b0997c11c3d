#include "cli/symbols/symbol_options.h"

#include <memory>
#include <string_view>

#include "cli/basics/time_option.h"
#include "cli/symbols/debug_packages.h"
#include "cli/terminal/terminal_progress.h"
#include "core/budget/pattern.h"
#include "core/frame_kind.h"

namespace memprof {

void AddSymbolOptions(Arguments& arguments, SymbolOptions& options) {
  // Not a vector: CLI11 would split "[a,b]" and take the following words as values, too.
  arguments
      .AddTaken(
          "--path-map", [&options](const std::string& rule) { return options.paths.Add(rule); },
          "Show source paths below OLD as below NEW; an empty NEW trims them. Repeatable: the "
          "first "
          "that fits")
      .TypeName("OLD=NEW")
      .EachTime();
  AddTimeOption(arguments, "--download-limit", options.download_limit,
                "Spend at most TIME on downloads from DEBUGINFOD_URLS; 0: download nothing");
  arguments.AddFlag(
      "--no-binaries", options.no_binaries,
      "Read no binary that the capture names, nor its debug info: for captures of strangers");
  arguments.AddFlag("--native-frames", options.native_frames,
                    "Also the frames of the Python interpreter itself, where Python frames stand "
                    "for them");
}

void AddWrapperOption(Arguments& arguments) {
  arguments
      .AddTaken(
          "--wrapper",
          [](const std::string& text) -> Result<void> {
            Result<Pattern> pattern = Pattern::Glob(text);
            if (!pattern) return tl::unexpected(pattern.error());
            AddWrapper([wrapper = *pattern](std::string_view function) {
              return wrapper.Matches(function);
            });
            return {};
          },
          "Functions whose name matches PATTERN wrap an allocator: their callers are the places. "
          "Repeatable")
      .TypeName("PATTERN")
      .EachTime();
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
