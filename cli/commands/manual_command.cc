// memprof manual: the man page and the shells' completions. They are made from the commands' own
// definitions, so they can't differ from what the executable accepts.

#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/manual/command_page.h"
#include "cli/manual/formats.h"
#include "cli/terminal/output.h"

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

CommandBody SetUpManual(Arguments& arguments) {
  auto options = std::make_shared<ManualOptions>();
  options->memprof = &arguments.Program();
  arguments.Add("format", options->format, "The man page, or the shell whose completions to write")
      .Required()
      .TypeName(FormatNames("|"));
  AddOutputOptions(arguments, options->output);
  return [options] { return Manual(*options); };
}

}  // namespace memprof
