// Stores the names that a capture's frames have on this machine in the capture's file.
//
// Thread safety: none.
// Failure: kUnreadable for a file that is no capture or is damaged, kIo for a failed write, kUsage
// for more names than a capture holds. The file is then unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/symbols/symbol_options.h"
#include "core/result.h"

namespace memprof {

struct SymbolizedCapture {
  std::string bytes;
  std::vector<std::string> notes;  // what was missing, one line a module
};

// A capture's bytes with symbols. Stored names are kept unless there are better ones here.
Result<SymbolizedCapture> Symbolize(const std::string& capture, const SymbolOptions& options);

// The same in place: `path` always has a whole capture.
Result<SymbolizedCapture> SymbolizeFile(const std::string& path, const SymbolOptions& options);

}  // namespace memprof
