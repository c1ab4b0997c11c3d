// memprof parse: prints the raw sections of a capture, for people who debug captures.

#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/load/capture_name.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "formats/capture/capture_dump.h"
#include "formats/capture/capture_reader.h"

namespace memprof {
namespace {

struct ParseOptions {
  std::string capture;
  OutputOptions output;
};

}  // namespace

CommandBody SetUpParse(Arguments& arguments) {
  auto options = std::make_shared<ParseOptions>();
  arguments.Add("capture", options->capture, "The capture").Required().TypeName("CAPTURE");
  AddOutputOptions(arguments, options->output);
  return [options] {
    if (const auto free = CheckOutput(options->output); !free) return ExitStatusOf(free.error());
    const auto file = WholeCapture(options->capture, "parse lists the sections of a capture");
    if (!file) return ExitStatusOf(file.error());
    const auto bytes = ReadCaptureFile(*file);
    if (!bytes) return ExitStatusOf(bytes.error());
    const auto text = DumpCapture(*bytes);
    if (!text) {
      return ExitStatusOf(
          {text.error().kind, fmt::format("{}: {}", options->capture, text.error().message)});
    }
    return WriteOutput(options->output, *text);
  };
}

}  // namespace memprof
