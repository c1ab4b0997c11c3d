#include "cli/inspect/viewer_inspection.h"

#include <fmt/format.h>

#include "cli/basics/command_output.h"
#include "cli/inspect/heap_inspection.h"
#include "core/units.h"

namespace memprof {

std::string InspectionTextOf(pid_t process, size_t columns) {
  CommandOptions options;
  options.with_errors = true;
  options.environment = {fmt::format("COLUMNS={}", columns)};
  return OutputOf({"/proc/self/exe", "inspect", fmt::format("{}", process), "--quiet"}, options);
}

std::string CostOfInspecting(pid_t process) {
  const auto pause = static_cast<uint64_t>(ExpectedPause(process).count());
  return fmt::format("process {} stands still twice for about {}", process, FormatDuration(pause));
}

}  // namespace memprof
