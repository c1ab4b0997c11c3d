// Load: from a file's name to a profile, for every report.
//
// A file is a capture or a region (`run --region FILE`, or MEMPROF_OUTPUT). It may be given with a
// moment (capture_name.h), whose figures then replace the peak's. Damage that leaves figures is
// reported on stderr, in one line, and kept in the profile's damage. If files of the program are
// missing here and the names stored in the capture are used instead, that is reported on stderr
// only: reports are the same with and without the files. Failure: one line that names the file.
// kUnreadable; kUsage for a moment or a process that it doesn't have.
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

// The input of a report: a file, or several files, which are merged as they are read
// (CaptureMerger) and then have no moments; and the chosen processes. A file without any of these
// processes is left out.
struct Captures {
  std::vector<std::string> names;
  ProcessSelector processes = {};
};

Result<Profile> LoadProfile(const Captures& captures, const SymbolOptions& symbols = {});

// Of several files those that have anything: a process that was killed while it made its region leaves
// an empty one, or one of zeros. Says which ones are left out.
std::vector<std::string> WithoutUnbegun(const std::vector<std::string>& names);

// The bytes of a capture; for a region, those of a capture of its current state.
struct CaptureBytes {
  std::string bytes;
  bool is_region;
  pid_t process;  // the process that counts in the region; 0: none does any more
};
Result<CaptureBytes> LoadCaptureBytes(const std::string& file);

// The same figures without names: every frame is "?". For reports of totals, which show no names:
// finding them takes seconds for large programs.
Result<Profile> LoadFigures(const Captures& captures);

// "x.memprof", "3 captures"
std::string TextOfNames(const std::vector<std::string>& names);

}  // namespace memprof
