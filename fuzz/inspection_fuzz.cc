// The readers of a frozen copy: its table of live blocks, the graph of its blocks, its modules and
// libc's arena. The input is the copy's memory from kBase on, with the words of the live map first.
// Figures always sum up, whatever the memory says.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "cli/inspect/address_space.h"
#include "cli/inspect/root_finder.h"
#include "core/inspect/inspection.h"
#include "core/inspect/object_types.h"
#include "core/inspect/pinned_pages.h"

namespace {

using namespace memprof;

constexpr uint64_t kBase = 0x10000;
constexpr size_t kMostBytes = 1 << 16;

class InputMemory : public MemorySource {
 public:
  explicit InputMemory(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  void Read(uint64_t address, std::span<unsigned char> to) const override {
    std::memset(to.data(), 0, to.size());
    const uint64_t begin = std::max(address, kBase);
    const uint64_t end = std::min(address + to.size(), kBase + bytes_.size());
    if (begin < end)
      std::memcpy(to.data() + (begin - address), &bytes_[begin - kBase], end - begin);
  }

  uint64_t SkipZeros(uint64_t begin, uint64_t end) const override {
    return begin < kBase ? std::min(kBase, end) : begin < kBase + bytes_.size() ? begin : end;
  }

  void Resident(uint64_t page, std::span<unsigned char> is) const override {
    for (size_t i = 0; i < is.size(); ++i) {
      const uint64_t address = (page + i) * kPage;
      is[i] = address >= kBase && address < kBase + bytes_.size() ? 1 : 0;
    }
  }

 private:
  std::span<const uint8_t> bytes_;
};

void InspectBlocks(const InputMemory& memory, const std::vector<LiveBlock>& blocks,
                   const std::vector<LostBlock>* before) {
  const std::vector<Root> roots = {
      {"words", {}, {kBase + 128, kBase + 4096}},
      {"range", {{kBase, kBase + 512}, {kBase + 9, kBase + 1000}}, {}}};
  InspectOptions options;
  options.lost_before = before;
  const Inspection found = Inspect(
      memory, blocks, roots, [](uint32_t cell) { return cell % 7 == 0 ? kNoSite : cell % 5; },
      options);
  Count all;
  for (const LiveBlock& block : blocks) all += {block.size, 1};
  Count held;
  for (const HoldingPath& path : found.paths) held += path.own;
  if (found.total.live() != all || held != found.total.reachable) std::abort();
  const auto group_of = [&](uint32_t i) { return blocks[i].cell % 5; };
  for (const char* library : {"", "libjemalloc.so", "libtcmalloc.so", "libmimalloc.so"}) {
    uint64_t free = 0;
    for (const PinnedPages& pages : FindPinnedPages(memory, Slabs(library), blocks, 5, group_of)) {
      free += pages.free_bytes;
    }
    if (free > kMostBytes) std::abort();
  }
  for (const std::string& type :
       FindObjectTypes(memory, memory, {{kBase, kBase + 2048}, {kBase + 4096, kBase + kMostBytes}},
                       blocks, 5, group_of)) {
    if (type.find_first_of("\n\x1b<") != std::string::npos) std::abort();
  }
  if (before == nullptr) InspectBlocks(memory, blocks, &found.lost);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, std::min(size, kMostBytes));
  const InputMemory memory(bytes);
  HeapPlaces places = {};
  places.live_map = kBase;
  places.inherited_maps = kBase + 16;
  places.inherited_count = static_cast<uint32_t>(size % 3);
  places.inherited_stride = sizeof(LiveMapWords);
  // Tables that are larger than the input have nothing but zeros, and take seconds to read.
  bool small = true;
  for (uint32_t i = 0; i <= places.inherited_count; ++i) {
    LiveMapWords words;
    const uint64_t at = i == 0 ? kBase : places.inherited_maps + (i - 1) * sizeof words;
    memory.Read(at, {reinterpret_cast<unsigned char*>(&words), sizeof words});
    small &= (words.state & ~kMapSplitting) < 4096 && words.groups_used < 4096;
  }
  if (small) {
    if (const auto blocks = ReadLiveBlocks(memory, places)) InspectBlocks(memory, *blocks, nullptr);
  }
  FindMainArena({kBase, kBase + bytes.size() / 8 * 8}, memory);
  const std::string text(reinterpret_cast<const char*>(data), bytes.size());
  std::vector<SpaceMapping> mappings = ParseMappings(text);
  SpaceMapping module;
  module.range = {kBase, kBase + 4096};
  module.readable = true;
  module.name = "/m";
  mappings.push_back(module);
  RootFacts facts;
  facts.modules = ModulesOf(mappings, memory);
  facts.mappings = std::move(mappings);
  facts.threads.push_back({1, "t", kBase + 64, kBase + 256, {}});
  facts.mapped = {{kBase + 4096, kBase + 8192}};
  // Mappings of a real process don't overlap, and are sorted.
  std::sort(facts.mappings.begin(), facts.mappings.end(),
            [](const SpaceMapping& a, const SpaceMapping& b) { return a.range.end < b.range.end; });
  uint64_t end = 0;
  std::erase_if(facts.mappings, [&end](const SpaceMapping& mapping) {
    const bool overlaps =
        mapping.range.begin < end || mapping.range.end - mapping.range.begin > 1 << 28;
    if (!overlaps) end = mapping.range.end;
    return overlaps;
  });
  uint64_t last = 0;
  for (const Root& root : FindRoots(facts, memory)) {
    for (const AddressRange& range : root.ranges) {
      if (range.begin >= range.end) std::abort();
      last += range.end - range.begin;
    }
  }
  if (last > end) std::abort();  // ranges are disjoint
  return 0;
}
