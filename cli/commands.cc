// The table of commands: one line each.

#include "cli/command.h"
#include "cli/reports/diff.h"
#include "cli/reports/flamegraph.h"
#include "cli/reports/parse.h"
#include "cli/reports/stats.h"
#include "cli/reports/summary.h"
#include "cli/reports/symbolize.h"
#include "cli/reports/table.h"
#include "cli/reports/transform.h"
#include "cli/reports/tree.h"
#include "cli/run/doctor_command.h"
#include "cli/run/run_command.h"

namespace memprof {
namespace {

constexpr Command kCommands[] = {
    {"run", "Run a program and leave its capture", "memprof run --aggregate -o x.memprof ./service",
     SetUpRun},
    {"summary", "What ran, its peak, its leaks, and where they come from",
     "memprof summary --leaks x.memprof", SetUpSummary},
    {"table", "One row a place", "memprof table -n 20 -s allocations x.memprof", SetUpTable},
    {"tree", "The call tree", "memprof tree --leaks x.memprof", SetUpTree},
    {"diff", "What has changed from one capture to another",
     "memprof diff --by function old.memprof new.memprof", SetUpDiff},
    {"flamegraph", "The call tree as one HTML file", "memprof flamegraph x.memprof -o x.html",
     SetUpFlamegraph},
    {"stats", "The figures of the whole program", "memprof stats --json x.memprof", SetUpStats},
    {"transform", "Another tool's format", "memprof transform json x.memprof -o x.json",
     SetUpTransform},
    {"symbolize", "Store functions, files and lines in a capture, for other machines",
     "memprof symbolize x.memprof", SetUpSymbolize},
    {"doctor", "What memprof will see of a program, and what lacks", "memprof doctor redis-server",
     SetUpDoctor},
    {"parse", "The raw sections of a capture", "memprof parse x.memprof", SetUpParse},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace memprof
