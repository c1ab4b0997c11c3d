// CaptureMerger: captures summed as SnapshotMerger does, with the names that are stored in them.
//
// If names differ, the longer chain is taken, and among those the last in order: a file and a line
// come after none. A module that lacked something in one of them has its note.
//
// Thread safety: none. Memory: what the result needs. Failure: as SnapshotMerger's; kUsage too
// where the names are more than a capture holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/result.h"
#include "core/snapshot/snapshot_merger.h"
#include "formats/capture_reader.h"

namespace memprof {

class CaptureMerger {
 public:
  // A capture without a run id is known by its content's checksum.
  Result<void> Add(CaptureContent content);

  // Pre: something was added. The merger is then to be thrown away.
  CaptureContent Take();

 private:
  void AddSymbols(const Snapshot& snapshot, const StoredSymbols& symbols);

  SnapshotMerger merger_;
  size_t added_ = 0;
  CaptureContent first_;  // while it is alone: its modules, frames and symbols, which then stay
  std::unordered_map<std::string, uint32_t> modules_;            // that have symbols, by MergeKey
  std::map<std::pair<uint32_t, uint64_t>, SourceChain> chains_;  // by module and offset
  std::unordered_map<uint32_t, std::string> notes_;
};

// As bytes, with the symbols if there are any.
Result<std::string> EncodeContent(const CaptureContent& content);

}  // namespace memprof
