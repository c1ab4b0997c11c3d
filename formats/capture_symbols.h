// The symbols section: what a capture's frames stand for, so that a report needs none of the
// binaries. CAPTURE_FORMAT.md has its bytes.
//
// Thread safety: pure. Invariant: equal symbols give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/symbolizer/symbolizer.h"

namespace memprof {

struct StoredSymbols {
  std::vector<SourceChain> chains;  // parallel to the snapshot's frames; an empty one: not stored
  std::vector<std::string> notes;   // parallel to its modules: what lacked; empty: nothing
  bool empty() const { return chains.empty() && notes.empty(); }
  friend bool operator==(const StoredSymbols&, const StoredSymbols&) = default;
};

// kUsage: they are more than a capture holds.
Result<std::string> EncodeSymbols(const StoredSymbols& symbols);

// False for content that breaks the format. Memory: bounded by capture_format.h's limits, however
// often the content refers to one name.
bool DecodeSymbols(std::string_view raw, size_t modules, size_t frames, StoredSymbols& symbols);

// The same capture with these symbols in place of those it has, if any; all other sections as they
// are, byte for byte. Pre: DecodeCapture found no damage; `symbols` are of what it gave.
Result<std::string> WithSymbols(std::string_view capture, const StoredSymbols& symbols);

}  // namespace memprof
