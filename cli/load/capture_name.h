// CaptureName: what a report is told to read: "x.memprof", or with a moment "x.memprof@90s", or
// with a named snapshot "x.memprof@warm".
//
// Thread safety: pure, but for the look at what files there are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/snapshot/moment_choice.h"

namespace memprof {

struct CaptureName {
  std::string file;
  std::optional<MomentSelector> moment;
};

// A file that has the '@' in its name is that file. kUsage: nothing follows the '@'.
Result<CaptureName> ParseCaptureName(const std::string& name);

// For a command that is of the whole capture, which `does` says: "parse lists a capture's
// sections". kUsage: the name has a moment; else the file.
Result<std::string> WholeCapture(const std::string& name, std::string_view does);

}  // namespace memprof
