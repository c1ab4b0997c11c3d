// CaptureReader: a capture's bytes as a snapshot. Captures are foreign bytes: nothing is trusted.
//
// Thread safety: pure, but for the file.
// Failure: kUnreadable, one line, for what is no capture, of a newer version, or damaged where no
// figure could be told without it. Lesser damage is counted in `damage`, and the rest is read.
// Memory: bounded by capture_format.h's limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/snapshot/snapshot.h"
#include "formats/capture_symbols.h"

namespace memprof {

struct CaptureDamage {
  std::string section;
  uint64_t bytes;  // stored bytes that were lost
  std::string what;
};

struct CaptureContent {
  Snapshot snapshot;
  StoredSymbols symbols;  // of the snapshot's frames; empty: none are stored
  std::vector<CaptureDamage> damage;
};

Result<CaptureContent> DecodeCapture(std::string_view bytes);

// Reads a whole file of at most kMaxFileBytes.
Result<std::string> ReadWholeFile(const std::string& path);

// The same for a capture. If the file doesn't begin as one, only its beginning is read, which
// DecodeCapture refuses: it may be a device, or a file of gigabytes.
Result<std::string> ReadCaptureFile(const std::string& path);

}  // namespace memprof
