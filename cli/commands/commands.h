// A command of memprof: a file that defines it, a line here, and one in the table (commands.cc).
//
//   CommandBody SetUpSummary(Arguments& arguments) {
//     auto options = std::make_shared<SummaryOptions>();
//     arguments.Add("capture", options->capture, "The capture").Required();
//     return [options] { return Summary(*options); };
//   }
//
// set_up declares options. The body that it returns runs after the command line was parsed, and
// returns the exit status. Errors go to stderr as one line that begins "memprof: " (message.h).
#pragma once

#include <functional>
#include <span>

#include "cli/basics/arguments.h"
#include "cli/basics/exit_status.h"

namespace memprof {

using CommandBody = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;  // one line
  const char* example;  // shown below --help: one command a line
  CommandBody (*set_up)(Arguments& arguments);
};

std::span<const Command> Commands();

CommandBody SetUpAttach(Arguments& arguments);
CommandBody SetUpBudget(Arguments& arguments);
CommandBody SetUpCheck(Arguments& arguments);
CommandBody SetUpDetach(Arguments& arguments);
CommandBody SetUpDiff(Arguments& arguments);
CommandBody SetUpDoctor(Arguments& arguments);
CommandBody SetUpEnv(Arguments& arguments);
CommandBody SetUpFinalize(Arguments& arguments);
CommandBody SetUpFlamegraph(Arguments& arguments);
CommandBody SetUpGrowth(Arguments& arguments);
CommandBody SetUpInspect(Arguments& arguments);
CommandBody SetUpList(Arguments& arguments);
CommandBody SetUpManual(Arguments& arguments);
CommandBody SetUpMerge(Arguments& arguments);
CommandBody SetUpParse(Arguments& arguments);
CommandBody SetUpRun(Arguments& arguments);
CommandBody SetUpScopeStacks(Arguments& arguments);
CommandBody SetUpServe(Arguments& arguments);
CommandBody SetUpSnapshot(Arguments& arguments);
CommandBody SetUpStats(Arguments& arguments);
CommandBody SetUpSummary(Arguments& arguments);
CommandBody SetUpSymbolize(Arguments& arguments);
CommandBody SetUpTable(Arguments& arguments);
CommandBody SetUpTop(Arguments& arguments);
CommandBody SetUpTransform(Arguments& arguments);
CommandBody SetUpTree(Arguments& arguments);

}  // namespace memprof
