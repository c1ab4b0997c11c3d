// memprof: parses the command line and runs one command of the table.

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/commands/help_formatter.h"
#include "cli/misspelling.h"

namespace {

std::string Footer(const memprof::Command& command) {
  return std::string("Example:\n  ") + command.example;
}

// "memprof budget init"
std::string PathOf(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent != nullptr ? PathOf(*parent) + " " : "") + command.get_name();
}

void SayMisspelling(const memprof::Misspelling& misspelling) {
  if (misspelling.known.empty()) {
    memprof::Say("{}; see {} --help", misspelling.text, PathOf(*misspelling.command));
  } else {
    memprof::Say("{}; did you mean '{}'?", misspelling.text, misspelling.known);
  }
}

// run's own failures must differ from the program's statuses.
int UsageStatusOf(const CLI::App& command) {
  return command.get_name() == "run" ? 125 : memprof::kExitUsage;
}

// The command line in the one form that is parsed: `memprof` is `memprof --help`, `memprof help
// table` is `memprof table --help`, and `memprof version` is `memprof --version`.
std::vector<const char*> UsualWords(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.empty()) words.push_back("memprof");
  const std::string_view first = words.size() > 1 ? words[1] : "help";
  if (first == "version") words[1] = "--version";
  if (first != "help") return words;
  if (words.size() > 1) words.erase(words.begin() + 1);
  words.push_back("--help");
  return words;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("memprof: exact heap profiler with tiny captures", "memprof");
  app.set_version_flag("--version", "memprof " MEMPROF_VERSION);
  app.formatter(std::make_shared<memprof::HelpFormatter>());  // commands inherit it
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(
      "Example:\n"
      "  memprof run --aggregate ./service\n"
      "  memprof summary service.4711.memprof");

  struct Entry {
    CLI::App* app;
    memprof::CommandBody body;
  };
  std::vector<Entry> entries;
  for (const memprof::Command& command : memprof::Commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(Footer(command));
    memprof::Arguments arguments(*sub);
    entries.push_back({sub, command.set_up(arguments)});
  }

  const std::vector<const char*> words = UsualWords(argc, argv);
  const auto misspelling = memprof::FindMisspelling(app, std::span(words).subspan(1));
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& help) {  // --help, --version
    if (!misspelling) return app.exit(help);
    SayMisspelling(*misspelling);
    return memprof::kExitUsage;
  } catch (const CLI::ParseError& error) {
    const CLI::App* parsed = &app;
    const char* example = nullptr;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].app->parsed()) continue;
      parsed = entries[i].app;
      example = memprof::Commands()[i].example;
    }
    if (misspelling) {
      SayMisspelling(*misspelling);
    } else if (example != nullptr && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      memprof::Say("{}; try: {}", error.what(), example);
    } else {
      memprof::Say("{}; see {} --help", error.what(), PathOf(*parsed));
    }
    return UsageStatusOf(*parsed);
  }
  // CLI11 takes an unknown option of run for the program's name, and the word after an empty --option=
  // for its value.
  if (misspelling) {
    SayMisspelling(*misspelling);
    return UsageStatusOf(*app.get_subcommands().front());
  }
  for (const Entry& entry : entries) {
    if (!entry.app->parsed()) continue;
    try {
      return entry.body();
    } catch (const std::bad_alloc&) {
      const std::string name = entry.app->get_name();
      memprof::Say("out of memory; is there a limit (ulimit -v, a container's)?");
      return name == "run" || name == "attach" ? 125 : memprof::kExitUnreadable;
    }
  }
  return memprof::kExitUsage;
}
