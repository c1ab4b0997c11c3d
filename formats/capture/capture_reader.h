// CaptureReader: reads a capture's bytes into a snapshot. Captures are foreign bytes: nothing is
// trusted.
//
// Thread safety: pure, but for the file.
// Failure: kUnreadable, one line, for bytes that are no capture, of a newer version, or damaged so
// that no figure is left. Lesser damage is counted in `damage`, and the rest is read.
// Memory: bounded by capture_format.h's limits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/snapshot/snapshot.h"
#include "formats/capture/capture_symbols.h"

namespace memprof {

struct CaptureDamage {
  std::string section;
  uint64_t bytes;  // stored bytes that were lost
  std::string what;
};

struct CaptureContent {
  Snapshot snapshot;
  StoredSymbols symbols;  // of the snapshot's frames; empty: no names are stored
  std::vector<CaptureDamage> damage;
};

Result<CaptureContent> DecodeCapture(std::string_view bytes);

// Reads a whole file of at most kMaxFileBytes.
Result<std::string> ReadWholeFile(const std::string& path);

// The same for a capture. If the file doesn't begin as a capture, only its beginning is read, and
// DecodeCapture refuses that: the file may be a device, or gigabytes long.
Result<std::string> ReadCaptureFile(const std::string& path);

}  // namespace memprof
