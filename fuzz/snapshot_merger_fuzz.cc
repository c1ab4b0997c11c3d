// Captures one after the other, each after its length in 4 bytes. Those that can be read are
// merged. The merge is the same in any order, and it is the sum.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/snapshot/snapshot_merger.h"
#include "formats/capture/capture_reader.h"
#include "formats/capture/capture_writer.h"
#include "fuzz/sections_mutator.h"

namespace {

constexpr size_t kMost = 3;

struct Part {
  size_t offset;
  uint32_t bytes;
};

std::vector<Part> PartsOf(const uint8_t* data, size_t size) {
  std::vector<Part> parts;
  for (size_t at = 0; parts.size() < kMost && size - at > sizeof(uint32_t);) {
    uint32_t bytes;
    std::memcpy(&bytes, data + at, sizeof bytes);
    at += sizeof bytes;
    bytes = static_cast<uint32_t>(std::min<size_t>(bytes, size - at));
    parts.push_back({at, bytes});
    at += bytes;
  }
  return parts;
}

memprof::Snapshot MergeOf(const std::vector<memprof::Snapshot>& snapshots) {
  memprof::SnapshotMerger merger;
  for (size_t i = 0; i < snapshots.size(); ++i) (void)merger.Add(snapshots[i], i + 1);
  return merger.Take();
}

bool Overflows(const memprof::Snapshot& snapshot) {
  constexpr uint64_t kLarge = uint64_t{1} << 56;
  for (const auto& site : snapshot.sites) {
    if (site.total.bytes > kLarge || site.total.allocations > kLarge ||
        site.leaked.bytes > kLarge || site.leaked.allocations > kLarge) {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<memprof::Snapshot> read;
  for (const Part& part : PartsOf(data, size)) {
    auto content = memprof::DecodeCapture(
        {reinterpret_cast<const char*>(data) + part.offset, size_t{part.bytes}});
    if (!content) continue;
    // A source is identified by its run; one without a run by the number passed with it.
    if (content->snapshot.program.run_id == 0) content->snapshot.program.run_id = read.size() + 1;
    read.push_back(std::move(content->snapshot));
  }
  // Only captures that may be summed: the merger refuses the others and takes nothing of them.
  memprof::SnapshotMerger merger;
  std::vector<memprof::Snapshot> taken;
  for (const auto& snapshot : read) {
    if (merger.Add(snapshot, 1)) taken.push_back(snapshot);
  }
  if (taken.empty()) return 0;
  const memprof::CanonicalSnapshot merged = merger.Take();
  memprof::Count leaked, total;
  bool large = false;
  for (const auto& snapshot : taken) {
    const auto some_leaked = SumLeaked(snapshot), some_total = SumTotal(snapshot);
    leaked = {leaked.bytes + some_leaked.bytes, leaked.allocations + some_leaked.allocations};
    total = {total.bytes + some_total.bytes, total.allocations + some_total.allocations};
    large = large || Overflows(snapshot);
  }
  if (!large && (SumLeaked(merged) != leaked || SumTotal(merged) != total)) std::abort();
  std::reverse(taken.begin(), taken.end());
  if (MergeOf(taken) != merged) std::abort();
  // Equal snapshots have equal bytes (capture_reader_fuzz); compressing takes longer than
  // everything else.
  if (size % 8 != 0) return 0;
  const auto again = memprof::DecodeCapture(memprof::EncodeCapture(merged));
  if (!again || again->snapshot != merged) std::abort();
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  const std::vector<Part> parts = PartsOf(data, size);
  if (parts.empty()) return memprof::MutateCapture(data, size, max_size, seed);
  const size_t which = seed / 7 % parts.size();
  const Part& part = parts[which];
  const size_t behind_at = part.offset + part.bytes;
  const size_t behind = size - behind_at;
  std::vector<uint8_t> room(data + part.offset, data + behind_at);
  room.resize(std::max(room.size(), max_size - (size - part.bytes)));
  const auto bytes =
      static_cast<uint32_t>(memprof::MutateCapture(room.data(), part.bytes, room.size(), seed));
  std::memmove(data + part.offset + bytes, data + behind_at, behind);
  std::memcpy(data + part.offset, room.data(), bytes);
  std::memcpy(data + part.offset - sizeof bytes, &bytes, sizeof bytes);
  return part.offset + bytes + behind;
}
