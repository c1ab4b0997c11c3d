// The table of commands, one line for each.

#include "cli/commands/commands.h"

namespace memprof {
namespace {

constexpr Command kCommands[] = {
    {"run", "Run a program and leave its capture", "memprof run --aggregate -o x.memprof ./service",
     SetUpRun},
    {"snapshot", "Take a named snapshot of a running program", "memprof snapshot 4711 --name warm",
     SetUpSnapshot},
    {"list", "The runs of this user that are alive", "memprof list", SetUpList},
    {"top", "What holds a running program's memory, look after look", "memprof top 4711", SetUpTop},
    {"serve", "Heap profile, metrics and the flame graph of running programs over HTTP",
     "memprof serve 4711 --listen 127.0.0.1:9090", SetUpServe},
    {"inspect", "Which live blocks of a running program are lost, and what holds the others",
     "memprof inspect 4711", SetUpInspect},
    {"attach", "Count what a running program allocates from now on",
     "memprof attach 4711 --duration 60 -o x.memprof", SetUpAttach},
    {"detach", "Let a program go that is attached to", "memprof detach 4711", SetUpDetach},
    {"summary", "What ran, its peak, its leaks, and where they come from",
     "memprof summary --leaks x.memprof", SetUpSummary},
    {"table", "One row a place", "memprof table -n 20 -s allocations x.memprof", SetUpTable},
    {"tree", "The call tree", "memprof tree --leaks x.memprof", SetUpTree},
    {"diff", "What has changed from one capture to another",
     "memprof diff --by function old.memprof new.memprof", SetUpDiff},
    {"growth", "Which places grow over time, how fast, and when that reaches a limit",
     "memprof growth --limit 4GiB x.memprof", SetUpGrowth},
    {"check", "Hold captures against a budget",
     "memprof check x.memprof --budget memprof.toml --baseline yesterday.memprof", SetUpCheck},
    {"budget", "A first budget file, from a run", "memprof budget init x.memprof -o memprof.toml",
     SetUpBudget},
    {"flamegraph", "The call tree as one HTML file", "memprof flamegraph x.memprof -o x.html",
     SetUpFlamegraph},
    {"stats", "The figures of the whole program", "memprof stats --json x.memprof", SetUpStats},
    {"transform", "Another tool's format", "memprof transform json x.memprof -o x.json",
     SetUpTransform},
    {"merge", "Sum captures of several processes, runs or machines",
     "memprof merge a.memprof b.memprof -o all.memprof", SetUpMerge},
    {"env", "What to set so that a program counts without memprof beside it",
     "memprof env -o /var/lib/app/app.memprof --format systemd", SetUpEnv},
    {"finalize", "Make a region that a program left without a supervisor a capture of kilobytes",
     "memprof finalize app.memprof", SetUpFinalize},
    {"symbolize", "Store functions, files and lines in a capture, for other machines",
     "memprof symbolize x.memprof", SetUpSymbolize},
    {"doctor", "What memprof will see of a program, and what lacks", "memprof doctor redis-server",
     SetUpDoctor},
    {"scope-stacks", "Name the stacks of a scope: memprof/gtest.h asks it when a limit is exceeded",
     "memprof scope-stacks <stacks.json", SetUpScopeStacks},
    {"manual", "This manual as a man page, or completions for a shell",
     "memprof manual bash -o ~/.local/share/bash-completion/completions/memprof", SetUpManual},
    {"parse", "The raw sections of a capture", "memprof parse x.memprof", SetUpParse},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace memprof
