// The options of run that control when the program's heap is inspected.
//
// Failure: kUsage, one line.
#pragma once

#include <string>
#include <vector>

#include "cli/basics/arguments.h"
#include "cli/supervisor/run_inspections.h"
#include "core/result.h"

namespace memprof {

struct InspectionFlags {  // as the user wrote them
  bool at_exit = false;
  std::vector<std::string> at;
};

void AddInspectionOptions(Arguments& arguments, InspectionFlags& flags);

// Without any flag nothing is inspected: `inspect` is empty.
Result<RunInspectionOptions> ReadInspectionFlags(const InspectionFlags& flags);

}  // namespace memprof
