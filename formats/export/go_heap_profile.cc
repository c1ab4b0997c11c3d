#include "formats/export/go_heap_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "core/base_name.h"
#include "core/printable.h"
#include "core/tree/path_to_root.h"
#include "formats/export/pprof_profile.h"

namespace memprof {
namespace {

uint64_t PeriodOf(std::span<const Profile> profiles) {
  return profiles.empty() || profiles[0].tracker.sample_bytes == 0
             ? 1
             : profiles[0].tracker.sample_bytes;
}

struct Heap {
  Count live, total;
};

// Go's legend is "live blocks: live bytes [blocks in all: bytes in all]".
void WriteHeap(std::string& text, const Heap& heap) {
  fmt::format_to(std::back_inserter(text), "{}: {} [{}: {}] @", heap.live.allocations,
                 heap.live.bytes, heap.total.allocations, heap.total.bytes);
}

}  // namespace

std::string GoHeapProfile(std::span<const Profile> now, std::span<const Profile> before,
                          const GoHeapOptions& options) {
  PprofProfile pprof({{"alloc", &ProfileSite::total}, {"inuse", &ProfileSite::leaked}},
                     options.threads);
  for (const Profile& profile : now) pprof.Add(profile);
  for (const Profile& profile : before) pprof.TakeOff(profile);
  PprofFacts facts;
  facts.time_ns = options.time_ns;
  facts.duration_ns = options.duration_ns;
  facts.period = PeriodOf(now);
  facts.default_type = options.allocs ? "alloc_space" : "inuse_space";
  return pprof.Build(facts);
}

std::string GoHeapText(std::span<const Profile> now) {
  Heap all;
  std::vector<std::pair<Heap, std::string>> stacks;
  for (const Profile& profile : now) {
    all.live += profile.leaked;
    all.total += profile.total;
    for (const ProfileSite& site : profile.sites) {
      std::string addresses, lines;
      for (const uint32_t node : PathToRoot(profile.nodes, site.node)) {
        const ProfileFrame& frame = profile.frames[profile.nodes[node].frame];
        const std::string name = Printable(frame.function);
        const bool has_module = frame.module < profile.modules.size();
        if (!frame.inlined) fmt::format_to(std::back_inserter(addresses), " {:#x}", frame.offset);
        fmt::format_to(
            std::back_inserter(lines), "#\t{:#x}\t{}\t\t{}:{}\n", frame.offset, name,
            Printable(!frame.file.empty() ? frame.file
                      : has_module ? std::string(BaseName(profile.modules[frame.module].path))
                                   : std::string("?")),
            frame.line);
      }
      stacks.emplace_back(Heap{site.leaked, site.total}, addresses + "\n" + lines);
    }
  }
  std::stable_sort(stacks.begin(), stacks.end(), [](const auto& a, const auto& b) {
    return a.first.live.bytes > b.first.live.bytes;
  });
  std::string text = "heap profile: ";
  WriteHeap(text, all);
  fmt::format_to(std::back_inserter(text), " heap/{}\n", PeriodOf(now));
  for (const auto& [heap, stack] : stacks) {
    WriteHeap(text, heap);
    text += stack;
    text += "\n";
  }
  return text;
}

}  // namespace memprof
