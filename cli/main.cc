// memprof: parses the command line and runs one command of the table.

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "cli/basics/exit_status.h"
#include "cli/basics/message.h"
#include "cli/commands/commands.h"
#include "cli/commands/help_formatter.h"

namespace {

std::string Footer(const memprof::Command& command) {
  return std::string("Example:\n  ") + command.example;
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

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    // CLI11 would ask for a command where there is a wrong one.
    if (app.get_subcommands().empty() && argc > 1) {
      const char* kind = argv[1][0] == '-' ? "option" : "command";
      what = std::string("there is no ") + kind + " '" + argv[1] + "'";
    }
    const CLI::App* parsed = &app;
    const char* example = nullptr;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].app->parsed()) continue;
      parsed = entries[i].app;
      example = memprof::Commands()[i].example;
    }
    const std::string name = parsed == &app ? "memprof" : "memprof " + parsed->get_name();
    if (example != nullptr && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      memprof::Say("{}; try: {}", what, example);
    } else {
      memprof::Say("{}; see {} --help", what, name);
    }
    // run's own failures are told from the program's statuses.
    return parsed->get_name() == "run" ? 125 : memprof::kExitUsage;
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
