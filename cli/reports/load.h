// Load: from a file's name to a profile, for every report.
//
// A file is a capture or a region (`run --region FILE`), with or without a moment
// (capture_name.h), whose figures then stand for the peak's. Damage that leaves figures is said on
// stderr, one line, and kept in the profile's damage. So is, on stderr alone, that names are those
// stored in the capture because files are not here: reports are the same with and without them.
// Failure: one line that names the file: kUnreadable; kUsage for a moment that it has not.
#pragma once

#include <string>

#include "cli/symbols/symbol_options.h"
#include "core/profile.h"
#include "core/result.h"

namespace memprof {

Result<Profile> LoadProfile(const std::string& name, const SymbolOptions& symbols = {});

// The bytes of a capture; of a region, of a capture of it as it is now.
struct CaptureBytes {
  std::string bytes;
  bool is_region;
};
Result<CaptureBytes> LoadCaptureBytes(const std::string& file);

// The same figures without names: every frame is "?". For reports of totals, since finding names
// takes seconds for large programs, and none of them is shown.
Result<Profile> LoadFigures(const std::string& name);

}  // namespace memprof
