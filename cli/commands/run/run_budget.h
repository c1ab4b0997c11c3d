// `memprof run --budget`: checks the capture against a budget after the program has ended.
//
// Thread safety: none, as loading.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/budget/check.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/started_run.h"

namespace memprof {

// The captures that are judged.
enum class BudgetOf {
  kTree,     // the merge of the program and its descendants
  kProgram,  // the program alone
  kEach,     // each process on its own
};

struct RunBudgetOptions {
  std::string file;  // empty: no budget
  std::vector<std::string> baselines;
  BudgetOf of = BudgetOf::kTree;
  bool decides = false;  // --exit-status=budget: the exit status ignores the program's
};

class RunBudget {
 public:
  // Called before the program starts: a budget or a baseline that can't be read stops the run.
  static Result<RunBudget> Load(const RunBudgetOptions& options, const SymbolOptions& symbols);

  // Adds the budget's verdict on the run's captures to the conclusion, with what was judged, and
  // decides the exit status: exit_status.h has the order. With kEach, the captures of the run must be
  // there (StartedRunPlan::children_files). Returns the captures that are over.
  std::vector<std::string> Conclude(const StartedRunOutcome& run, const SymbolOptions& symbols,
                                    bool quiet, Conclusion& conclusion) const;
  // How many captures of children have to be left for this, at least.
  size_t ChildrenFiles() const;

 private:
  RunBudgetOptions options_;
  Yardstick yardstick_;
};

}  // namespace memprof
