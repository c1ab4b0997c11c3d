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

// `snapshot`: its name, for %s; null: %s stays as it is.
std::string ExpandName(const std::string& pattern, const std::string& program, pid_t pid,
                       const std::string* snapshot = nullptr);

// Absolute, by what its directory is called without links: equal for two spellings of one file, and
// the same before and after the file is there. As it is where the directory isn't there.
std::string CanonicalName(const std::string& file);

// "dir/x.memprof", ".exec1" → "dir/x.exec1.memprof"
std::string InsertBeforeExtension(const std::string& file, const std::string& what);

// Whether the file that `option` names can be written: its directory is there and writable and,
// without `overwrite`, the file is not there yet.
Result<void> CheckOutput(const std::string& file, std::string_view option, bool overwrite);

}  // namespace memprof
