// Load: from a file's name to a profile, for every report.
//
// A file is a capture or a region (`run --region FILE`, or MEMPROF_OUTPUT), with or without a
// moment (capture_name.h), whose figures then stand for the peak's. Damage that leaves figures is
// said on stderr, one line, and kept in the profile's damage. So is, on stderr alone, that names
// are those stored in the capture because files are not here: reports are the same with and without
// them. Failure: one line that names the file: kUnreadable; kUsage for a moment or a process that
// it has not.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/symbols/symbol_options.h"
#include "core/profile/profile.h"
#include "core/result.h"
#include "core/snapshot/process_choice.h"

namespace memprof {

Result<Profile> LoadProfile(const std::string& name, const SymbolOptions& symbols = {});

// What a report is of: files, of several their merge (CaptureMerger), as they are read, and they
// have no moment each; and of these the chosen processes. A file without any of them is left out.
struct Captures {
  std::vector<std::string> names;
  ProcessSelector processes = {};
};

Result<Profile> LoadProfile(const Captures& captures, const SymbolOptions& symbols = {});

// The bytes of a capture; of a region, of a capture of it as it is now.
struct CaptureBytes {
  std::string bytes;
  bool is_region;
  pid_t process;  // that counts in the region; 0: none does any more
};
Result<CaptureBytes> LoadCaptureBytes(const std::string& file);

// The same figures without names: every frame is "?". For reports of totals, since finding names
// takes seconds for large programs, and none of them is shown.
Result<Profile> LoadFigures(const Captures& captures);

// "x.memprof", "3 captures"
std::string TextOfNames(const std::vector<std::string>& names);

}  // namespace memprof
