// CaptureName: the name of a capture on a command line: "x.memprof", with a moment "x.memprof@90s",
// or with a named moment "x.memprof@warm".
//
// Thread safety: pure, except that it looks which files exist.
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

// If a file exists whose name has the '@', it is that file. Failure: kUsage if nothing follows the
// '@'.
Result<CaptureName> ParseCaptureName(const std::string& name);

// For a command that works on the whole capture; `does` says what it does: "parse lists a capture's
// sections". Returns the file. Failure: kUsage if the name has a moment.
Result<std::string> WholeCapture(const std::string& name, std::string_view does);

}  // namespace memprof
