// Names of captures.
//
//   -o FILE   %p is the program's pid, %n its base name, %% a percent sign
//   --snapshot-files PATTERN   likewise, and %s is the snapshot's name
//   default   "%n.%p.memprof" in the current directory
//   an image before an exec: the stem + ".exec1", ".exec2", … ("x.memprof" → "x.exec1.memprof")
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "core/result.h"

namespace memprof {

inline constexpr char kDefaultOutput[] = "%n.%p.memprof";

// `moment` is a named moment's name, for %s; if it is null, %s stays as it is.
std::string ExpandName(const std::string& pattern, const std::string& program, pid_t pid,
                       const std::string* moment = nullptr);

// The absolute name, with the links in its directory resolved. It is equal for two spellings of one
// file, and the same before and after the file is created. Unchanged if the directory doesn't
// exist.
std::string CanonicalName(const std::string& file);

// Checks that a run's capture, those of its earlier images and that of its tree are captures where they
// exist (CheckOverwritten).
Result<void> CheckCapturesOf(const std::string& output, std::string_view option);

// Removes them. Pre: CheckCapturesOf.
void RemoveCapturesOf(const std::string& output);

// "dir/x.memprof", ".exec1" → "dir/x.exec1.memprof"
std::string InsertBeforeExtension(const std::string& file, const std::string& what);

// Checks that the file named by `option` can be written: its directory exists and is writable, its
// name leaves room for what memprof adds to it, and, without `overwrite`, the file doesn't exist yet.
Result<void> CheckOutput(const std::string& file, std::string_view option, bool overwrite);

// True for a file that can be read and begins as a capture or a region.
bool BeginsAsCaptureOrRegion(const std::string& file);

// Checks that a file that is to be overwritten is a capture or a region, or empty, and so nothing
// that somebody meant to keep. One that can't be read passes.
Result<void> CheckOverwritten(const std::string& file, std::string_view option);
// Likewise for metrics.
Result<void> CheckOverwrittenMetrics(const std::string& file, std::string_view option);

}  // namespace memprof
