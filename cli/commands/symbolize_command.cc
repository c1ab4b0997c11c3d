// memprof symbolize: stores the names that a capture's frames have on this machine, so that other
// machines can report without the binaries.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/load/capture_name.h"
#include "cli/load/load.h"
#include "cli/symbols/symbolize_capture.h"
#include "cli/terminal/output.h"
#include "formats/atomic_file.h"

namespace memprof {
namespace {

struct SymbolizeOptions {
  std::string capture;
  bool quiet = false;
  SymbolOptions symbols;
  OutputOptions output = {.has_capture = true};
};

// Without -o the capture itself is rewritten: nothing in it is lost.
int Write(const SymbolizeOptions& options, const std::string& bytes) {
  umask(S_IRWXG | S_IRWXO);  // a capture has the command line, so only its owner may read it
  if (!options.output.file.empty()) return WriteOutput(options.output, bytes);
  const auto written = WriteFileAtomically(options.capture, bytes, Readers::kOwner);
  return written ? kExitFine : ExitStatusOf(written.error());
}

int SymbolizeCommand(const SymbolizeOptions& options) {
  if (options.output.file == "-" && isatty(STDOUT_FILENO) != 0) {
    Say("a capture is binary; name a file with -o");
    return kExitUsage;
  }
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  const auto file = WholeCapture(options.capture, "symbolize stores the names of a capture");
  if (!file) return ExitStatusOf(file.error());
  const auto capture = LoadCaptureBytes(*file);
  if (!capture) return ExitStatusOf(capture.error());
  if (capture->is_region && options.output.file.empty()) {
    Say("{} is a region, which is left as it is; name the capture with -o", options.capture);
    return kExitUsage;
  }
  const auto symbolized = Symbolize(capture->bytes, options.symbols);
  if (!symbolized) {
    return ExitStatusOf({symbolized.error().kind,
                         fmt::format("{}: {}", options.capture, symbolized.error().message)});
  }
  if (!options.quiet) {
    for (const std::string& note : symbolized->notes) Say("{}", note);
  }
  return Write(options, symbolized->bytes);
}

}  // namespace

CommandBody SetUpSymbolize(Arguments& arguments) {
  auto options = std::make_shared<SymbolizeOptions>();
  arguments.Add("capture", options->capture, "The capture, or a file of run --region")
      .Required()
      .TypeName("CAPTURE");
  arguments.AddFlag("-q,--quiet", options->quiet, "Say nothing of modules that lack something");
  AddSymbolOptions(arguments, options->symbols);
  arguments
      .Add("-o,--output", options->output.file,
           "Write to this file (default: into the capture itself)")
      .TypeName("FILE");
  arguments.AddFlag("-f,--force", options->output.force, "Overwrite an existing file");
  return [options] { return SymbolizeCommand(*options); };
}

}  // namespace memprof
