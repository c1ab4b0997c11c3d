// CaptureMerger: sums captures as SnapshotMerger does, together with the names stored in them.
//
// If the names of a frame differ, the longer chain wins, and among equally long ones the last in
// order: an entry with file and line comes after one without. A module that lacked something in one
// of the captures keeps its note.
//
// Thread safety: none. Memory: what the result needs. Failure: as SnapshotMerger's; also kUsage if
// the names are more than a capture holds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/snapshot/snapshot_merger.h"
#include "formats/capture/capture_reader.h"

namespace memprof {

struct MergedCapture {
  CanonicalSnapshot snapshot;
  StoredSymbols symbols;  // of the snapshot's frames; empty: none are stored
};

class CaptureMerger {
 public:
  // A capture without a run id is identified by its content's checksum.
  Result<void> Add(CaptureContent content);

  // Pre: something was added.
  void AddUnseen(const std::vector<Unseen>& unseen) { merger_.AddUnseen(unseen); }

  // Pre: something was added. The merger must not be used afterwards.
  MergedCapture Take();

 private:
  void AddSymbols(const Snapshot& snapshot, const StoredSymbols& symbols);

  SnapshotMerger merger_;
  size_t added_ = 0;
  // the first capture, until a second one comes; alone, its modules, frames and symbols stay as
  // they are
  CaptureContent first_;
  // those that have symbols, by MergeKey
  std::unordered_map<std::string, uint32_t> modules_;
  std::map<std::pair<uint32_t, uint64_t>, SourceChain> chains_;  // by module and offset
  std::unordered_map<uint32_t, std::string> notes_;
};

// As bytes, including the symbols if there are any.
Result<std::string> EncodeMerge(const MergedCapture& merge);

}  // namespace memprof
