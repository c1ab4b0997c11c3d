// The symbols section: the names of a capture's frames, so that a report doesn't need the binaries.
// CAPTURE_FORMAT.md specifies its bytes.
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
  // parallel to the snapshot's frames; an empty chain is not stored
  std::vector<SourceChain> chains;
  std::vector<std::string> notes;  // parallel to its modules: what was missing; empty: nothing
  bool empty() const { return chains.empty() && notes.empty(); }
  friend bool operator==(const StoredSymbols&, const StoredSymbols&) = default;
};

// Failure: kUsage if they are more than a capture holds.
Result<std::string> EncodeSymbols(const StoredSymbols& symbols);

// Returns false for content that breaks the format. Memory: bounded by capture_format.h's limits,
// however often the content refers to one name.
bool DecodeSymbols(std::string_view raw, size_t modules, size_t frames, StoredSymbols& symbols);

// The same capture, with its symbols (if any) replaced by these; all other sections stay the same,
// byte for byte. Pre: DecodeCapture found no damage; `symbols` are parallel to its result.
Result<std::string> WithSymbols(std::string_view capture, const StoredSymbols& symbols);

}  // namespace memprof
