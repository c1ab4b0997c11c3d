// memprof transform: converts a capture to another tool's format.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/commands/options/view_options.h"
#include "cli/reports/exactness.h"
#include "cli/reports/report.h"
#include "formats/export/exporters.h"

namespace memprof {
namespace {

struct TransformOptions {
  std::string format;
  Captures captures;
  std::string figure = "peak";
  bool history = false;
  bool stack_table = false;
  SymbolOptions symbols;
  OutputOptions output;
};

std::string FormatNames(const char* separator) {
  std::vector<std::string_view> names;
  for (const Exporter& exporter : Exporters()) names.push_back(exporter.name);
  return fmt::format("{}", fmt::join(names, separator));
}

int Transform(const TransformOptions& options) {
  const Exporter* exporter = FindExporter(options.format);
  if (exporter == nullptr) {
    Say("transform {}: no such format; there are {}", options.format, FormatNames(", "));
    return kExitUsage;
  }
  ExportOptions what;
  const auto figure = std::find_if(std::begin(kAllFigures), std::end(kAllFigures),
                                   [&](Figure f) { return options.figure == NameOf(f); });
  if (figure == std::end(kAllFigures)) {
    Say("--figure {}: use peak, leaked, total or temporary", options.figure);
    return kExitUsage;
  }
  what.figure = *figure;
  if (what.figure == Figure::kTemporary && exporter->name != "folded" && exporter->name != "json") {
    Say("{} has no figure of temporaries alone; json and folded do", exporter->name);
    return kExitUsage;
  }
  what.history = options.history;
  what.stack_table = options.stack_table;
  if ((what.history || what.stack_table) && exporter->name != "json") {
    Say("{} is for json only", what.history ? "--history" : "--stack-table");
    return kExitUsage;
  }
  if (exporter->binary && IsStdout(options.output) && isatty(STDOUT_FILENO) != 0) {
    Say("{} is binary; name a file with -o", exporter->name);
    return kExitUsage;
  }
  SymbolOptions symbols = options.symbols;
  symbols.names_packages = exporter->name == "json";  // only json contains the notes
  return Report(options.captures, symbols, options.output, what.figure,
                [&](const Profile& profile, const TextStyle&) {
                  SayChosen(profile);
                  return exporter->write(profile, what);
                });
}

}  // namespace

CommandBody SetUpTransform(Arguments& arguments) {
  auto options = std::make_shared<TransformOptions>();
  arguments.Add("format", options->format, "The format").Required().TypeName(FormatNames("|"));
  AddCaptures(arguments, options->captures);
  arguments.Add("--figure", options->figure, "What is written, in formats that hold one figure")
      .TypeName("peak|leaked|total|temporary")
      .ShowDefault();
  arguments.AddFlag("--history", options->history,
                    "In JSON: what was live of each site at every moment that was kept");
  arguments.AddFlag(
      "--stack-table", options->stack_table,
      "In JSON: each frame and stack once, in tables that the sites refer to. Where stacks "
      "are many and deep, as Python's, a hundredth of the size");
  AddSymbolOptions(arguments, options->symbols);
  AddWrapperOption(arguments);
  AddOutputOptions(arguments, options->output);
  return [options] { return Transform(*options); };
}

}  // namespace memprof
