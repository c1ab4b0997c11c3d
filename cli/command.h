// A command of memprof: one file that defines it and one line in the table (commands.cc).
//
//   CommandBody SetUpSummary(CLI::App& app) {
//     auto options = std::make_shared<SummaryOptions>();
//     app.add_option("capture", options->capture, "The capture")->required();
//     return [options] { return Summary(*options); };
//   }
//
// set_up declares options; the body that it returns runs after the command line was parsed and
// gives the exit status. Errors go to stderr as one line that begins "memprof: " (message.h).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

namespace memprof {

// Exit statuses of all commands but run, whose are in run/exit_status.h.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;  // the system refused: a full disk, a closed pipe
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnreadable = 3;

using CommandBody = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;  // one line
  const char* example;  // shown below --help: one command a line
  CommandBody (*set_up)(CLI::App& app);
};

std::span<const Command> Commands();

}  // namespace memprof
