#include "cli/supervisor/jemalloc/profile_snapshot.h"

#include <gelf.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/preflight/inner_jemalloc.h"
#include "core/protocol/sample_weight.h"
#include "core/symbolizer/build_id.h"
#include "core/symbolizer/elf_file.h"

namespace memprof {
namespace {

constexpr std::string_view kLibrary = "/libjemalloc";

// The facts about a file that was mapped.
struct MappedFile {
  struct Segment {
    uint64_t file_offset, bytes, address;
  };
  uint32_t module = 0;
  bool is_allocator = false;
  std::vector<Segment> segments;
  std::vector<CodeRange> jemalloc;  // ascending

  uint64_t AddressOf(uint64_t file_offset) const {
    for (const Segment& segment : segments) {
      if (file_offset - segment.file_offset < segment.bytes) {
        return file_offset - segment.file_offset + segment.address;
      }
    }
    return file_offset;
  }
  // True if the call that returns to `address` is in jemalloc's code.
  bool IsJemallocs(uint64_t address) const {
    const auto after =
        std::upper_bound(jemalloc.begin(), jemalloc.end(), address - 1,
                         [](uint64_t at, const CodeRange& range) { return at < range.start; });
    return is_allocator || (after != jemalloc.begin() && address <= (after - 1)->end);
  }
};

// Fills in `file`; returns its build-id.
std::string ReadFile(const std::string& path, MappedFile& file) {
  if (!path.starts_with('/')) return {};  // "[vdso]"
  const ElfFile opened(path);
  Elf* const elf = opened.elf();
  size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return {};
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) continue;
    if (segment.p_type != PT_LOAD) continue;
    file.segments.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
  }
  file.jemalloc = JemallocCode(elf);
  return BuildIdOf(elf);
}

// Finds the files of addresses, and assigns each a module of the snapshot.
class Files {
 public:
  Files(const std::vector<JemallocMapping>& mappings, Snapshot& snapshot)
      : mappings_(mappings), snapshot_(snapshot) {
    std::sort(mappings_.begin(), mappings_.end(),
              [](const auto& a, const auto& b) { return a.start < b.start; });
  }

  struct Place {
    const MappedFile* file;  // nullptr: in no file
    uint64_t offset;
  };
  Place Find(uint64_t return_address) {
    const auto after = std::upper_bound(
        mappings_.begin(), mappings_.end(), return_address - 1,
        [](uint64_t at, const JemallocMapping& mapping) { return at < mapping.start; });
    if (after == mappings_.begin() || return_address > (after - 1)->end) {
      return {nullptr, return_address};
    }
    const JemallocMapping& mapping = *(after - 1);
    const MappedFile& file = Of(mapping.path);
    // The call itself is surely within the segment; the instruction after it may not be.
    return {&file, file.AddressOf(return_address - 1 - mapping.start + mapping.file_offset) + 1};
  }

 private:
  const MappedFile& Of(const std::string& path) {
    const auto [at, is_new] = files_.try_emplace(path);
    MappedFile& file = at->second;
    if (!is_new) return file;
    file.is_allocator = path.find(kLibrary) != std::string::npos;
    file.module = static_cast<uint32_t>(snapshot_.modules.size());
    snapshot_.modules.push_back({path, ReadFile(path, file)});
    return file;
  }

  std::vector<JemallocMapping> mappings_;
  Snapshot& snapshot_;
  std::map<std::string, MappedFile> files_;
};

// Adds a stack's nodes and returns its leaf; equal nodes are merged later.
uint32_t AddStack(const JemallocStack& stack, Files& files, Snapshot& snapshot) {
  std::vector<Files::Place> places;
  for (const uint64_t address : stack.addresses) {
    const Files::Place place = files.Find(address);
    const bool own = place.file != nullptr && place.file->IsJemallocs(place.offset);
    if (!places.empty() || !own) places.push_back(place);
  }
  uint32_t node = 0;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const auto frame = static_cast<uint32_t>(snapshot.frames.size());
    snapshot.frames.push_back(
        {place->file != nullptr ? place->file->module : kNoModule, place->offset});
    snapshot.nodes.push_back({node, frame});
    node = static_cast<uint32_t>(snapshot.nodes.size() - 1);
  }
  return node;
}

}  // namespace

Snapshot SnapshotOf(const JemallocProfile& profile) {
  Snapshot snapshot;
  snapshot.nodes.emplace_back();
  snapshot.thread_names.emplace_back(kAllThreads);
  snapshot.tracker.sample_bytes = profile.sample_bytes;
  Files files(profile.mappings, snapshot);
  for (const JemallocStack& stack : profile.stacks) {
    SnapshotSite site;
    site.node = AddStack(stack, files, snapshot);
    site.peak = site.leaked = stack.live;
    site.total = stack.total;
    if (site.total == Count{}) continue;
    site.size_class = SizeClass(site.total.bytes / std::max<uint64_t>(site.total.allocations, 1));
    snapshot.sites.push_back(site);
  }
  snapshot.tracker.counter_peak_bytes = SumPeak(snapshot).bytes;
  snapshot.tracker.peak_bound_bytes = SumTotal(snapshot).bytes - SumLeaked(snapshot).bytes;
  return snapshot;
}

}  // namespace memprof
