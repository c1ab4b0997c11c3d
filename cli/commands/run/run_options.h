// RunOptions: the options of `memprof run` as written, and RunSettings: what they mean.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/basics/arguments.h"
#include "cli/basics/output_name.h"
#include "cli/commands/options/inspection_options.h"
#include "cli/commands/options/named_moment_options.h"
#include "cli/commands/options/serve_options.h"
#include "cli/commands/options/tracking_options.h"
#include "cli/commands/run/run_budget.h"
#include "cli/symbols/symbol_options.h"
#include "core/result.h"

namespace memprof {

struct RunOptions {
  bool aggregate = false;
  bool force = false;
  bool quiet = false;
  bool live = false;
  std::string output = kDefaultOutput;
  std::string region;
  std::chrono::milliseconds checkpoint = std::chrono::seconds(30);
  std::chrono::milliseconds timeout{0};  // 0: never
  bool command_line = true;
  bool follow_fork = true;
  bool wait = false;
  std::vector<std::string> only, skip;
  size_t children_files = 0;
  bool mmap = true;
  TrackingFlags tracking;
  std::string python;
  NamedMomentFlags named_moments;
  InspectionFlags inspections;
  std::string metrics;
  ServeFlags serve;
  bool jemalloc_prof = false;
  bool symbolize = false;
  SymbolOptions symbols;
  RunBudgetOptions budget;
  std::string unused;
  Arguments arguments;
};

// Declares the options, and the program's command line that ends them.
void AddRunOptions(Arguments& arguments, const std::shared_ptr<RunOptions>& options);

// The settings that don't depend on the program.
struct RunSettings {
  TrackerOptions tracker;
  NamedMomentOptions named_moments;
  RunInspectionOptions inspections;
  std::optional<RunBudget> budget;
  std::optional<ServePlan> serve;  // unset: nothing is served
};

// Failure: kUsage for options that exclude each other; also as RunBudget::Load.
Result<RunSettings> ReadRunSettings(const RunOptions& options);

// Returns the program and its arguments. Failure: kUsage if there is no program, or an unknown
// option before it.
Result<std::vector<std::string>> CommandLineOf(const RunOptions& options);

// With --jemalloc-prof: a given option that needs the tracker. Unset: there is none.
std::optional<std::string> OptionOfTheTracker(const RunOptions& options);

}  // namespace memprof
