#include "cli/manual/manual_command.h"

#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "cli/manual/command_page.h"
#include "cli/manual/formats.h"
#include "cli/message.h"
#include "cli/reports/output.h"

namespace memprof {
namespace {

struct ManualFormat {
  std::string_view name;
  std::string (*write)(const CommandPage& memprof);
};

constexpr ManualFormat kFormats[] = {
    {"man", ManPage}, {"bash", BashCompletion}, {"zsh", ZshCompletion}, {"fish", FishCompletion}};

struct ManualOptions {
  std::string format;
  OutputOptions output;
  const CLI::App* memprof = nullptr;
};

std::string FormatNames(std::string_view separator) {
  std::string names;
  for (const ManualFormat& format : kFormats) {
    if (!names.empty()) names += separator;
    names += format.name;
  }
  return names;
}

int Manual(const ManualOptions& options) {
  if (const auto free = CheckOutput(options.output); !free) return ExitStatusOf(free.error());
  for (const ManualFormat& format : kFormats) {
    if (format.name != options.format) continue;
    return WriteOutput(options.output, format.write(ReadCommand(*options.memprof)));
  }
  Say("manual {}: no such format; there are {}", options.format, FormatNames(", "));
  return kExitUsage;
}

}  // namespace

CommandBody SetUpManual(CLI::App& app) {
  auto options = std::make_shared<ManualOptions>();
  options->memprof = app.get_parent();
  app.add_option("format", options->format, "The man page, or the shell whose completions to write")
      ->required()
      ->type_name(FormatNames("|"));
  AddOutputOptions(app, options->output);
  return [options] { return Manual(*options); };
}

}  // namespace memprof
