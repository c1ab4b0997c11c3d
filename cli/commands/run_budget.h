// `memprof run --budget`: the capture is held against a budget when the program has ended.
//
// Thread safety: none, as loading.
#pragma once

#include <optional>
#include <string>

#include "cli/budget/check.h"
#include "cli/supervisor/conclusion.h"
#include "cli/supervisor/supervisor.h"

namespace memprof {

struct RunBudgetOptions {
  std::string file;      // empty: there is none
  std::string baseline;  // empty: none
  bool decides = false;  // --exit-status=budget: the program's status is not memprof's
};

class RunBudget {
 public:
  // Before the program starts: a budget or a baseline that can't be read stops it.
  static Result<RunBudget> Load(const RunBudgetOptions& options, const SymbolOptions& symbols);

  // Adds what the budget says of the capture to the conclusion, and decides its status:
  // exit_status.h has the order.
  void Conclude(const RunOutcome& outcome, const std::string& capture, const SymbolOptions& symbols,
                bool quiet, Conclusion& conclusion) const;

 private:
  RunBudgetOptions options_;
  Yardstick yardstick_;
};

}  // namespace memprof
