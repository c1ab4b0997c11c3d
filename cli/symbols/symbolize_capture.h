// Stores in a capture's file what its frames stand for on this machine.
//
// Thread safety: none.
// Failure: kUnreadable for what is no capture or a damaged one, kIo for what can't be written,
// kUsage for a capture with more names than one holds. The file is then as it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/symbols/symbol_options.h"
#include "core/result.h"

namespace memprof {

struct SymbolizedCapture {
  std::string bytes;
  std::vector<std::string> notes;  // what lacked, one line a module
};

// A capture's bytes with symbols. What it has stored already is kept where nothing better is here.
Result<SymbolizedCapture> Symbolize(const std::string& capture, const SymbolOptions& options);

// The same in place: at `path` there is always a whole capture.
Result<SymbolizedCapture> SymbolizeFile(const std::string& path, const SymbolOptions& options);

}  // namespace memprof
