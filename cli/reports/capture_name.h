// CaptureName: what a report is told to read: "x.memprof", or with a moment "x.memprof@90s".
//
// Thread safety: pure, but for the look at what files there are.
#pragma once

#include <optional>
#include <string>

#include "core/moment_choice.h"
#include "core/result.h"

namespace memprof {

struct CaptureName {
  std::string file;
  std::optional<MomentSelector> moment;
};

// A file that has the '@' in its name is that file. kUsage: what follows the '@' is no moment.
Result<CaptureName> ParseCaptureName(const std::string& name);

}  // namespace memprof
