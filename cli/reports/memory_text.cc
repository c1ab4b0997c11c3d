#include "cli/reports/memory_text.h"

#include <fmt/format.h>

#include <vector>

#include "core/snapshot/allocator_tells.h"
#include "core/units.h"

namespace memprof {
namespace {

std::string SignedBytes(int64_t bytes) {
  return bytes < 0 ? "-" + FormatBytes(~static_cast<uint64_t>(bytes) + 1)
                   : FormatBytes(static_cast<uint64_t>(bytes));
}

std::string SourceText(const AllocatorSample& said) {
  if (Tells(said)) {
    return fmt::format("the allocator's part is what {} said at {}", NameOf(said.provider),
                       FormatDuration(said.time_ms));
  }
  switch (said.provider) {
    case AllocatorProvider::kGlibc:
      return "glibc is never asked about its part: the question may wait for ever for another "
             "thread, and aborts a program with a damaged list of free blocks";
    case AllocatorProvider::kMimalloc:
      return "mimalloc tells nothing of its blocks";
    case AllocatorProvider::kJemalloc:
    case AllocatorProvider::kTcmalloc:
      return fmt::format(
          "{} wasn't asked about its part: once the program has had a second thread, or has jumped "
          "out of the allocator, the question may wait for ever",
          NameOf(said.provider));
    case AllocatorProvider::kNone:
      break;
  }
  return "the allocator said nothing of itself";
}

// What it said as the program ended, perhaps. Pre: it tells something.
std::string LastSaidText(const AllocatorSample& said) {
  std::string text =
      fmt::format("{} said at {}:", NameOf(said.provider), FormatDuration(said.time_ms));
  const char* comma = "";
  auto add = [&](const std::optional<uint64_t>& bytes, const char* what) {
    if (!bytes) return;
    text += fmt::format("{} {} {}", comma, FormatBytes(*bytes), what);
    comma = ",";
  };
  add(said.allocated_bytes, "allocated");
  add(said.cached_bytes, "in threads' caches");
  add(said.free_bytes, "free and kept");
  add(said.metadata_bytes, "in its own tables");
  return text;
}

}  // namespace

std::string MemoryText(const Profile& profile, const TextStyle& style) {
  const MemoryRecord& memory = profile.memory;
  const bool said = Tells(memory.last_said);
  if (memory.samples.empty()) {
    return said ? "\n" + Wrapped(LastSaidText(memory.last_said), 0, style.width) : std::string();
  }
  const MemorySample& last = memory.samples.back();
  const MemorySample& highest = *HighestOf(memory);
  std::string text = "\n" + Bold("Where the resident memory is", style) + "\n";
  const std::string highest_heading = "at " + FormatDuration(highest.time_ms);
  const std::string last_heading = "at " + FormatDuration(last.time_ms);
  text += Dim(fmt::format("{:>12} {:>12}  part\n", highest_heading, last_heading), style);
  // A part that one of them doesn't have is 0 there.
  const std::vector<MemoryPart> of_highest = PartsOf(highest), of_last = PartsOf(last);
  auto bytes_of = [](const std::vector<MemoryPart>& parts, const std::string& name) {
    int64_t bytes = 0;
    for (const MemoryPart& part : parts) bytes += part.name == name ? part.bytes : 0;
    return bytes;
  };
  auto line = [&](const MemoryPart& part) {
    const int64_t then = bytes_of(of_highest, part.name), now = bytes_of(of_last, part.name);
    if (then == 0 && now == 0) return;
    text += fmt::format("{} {}  {}\n", PaddedLeft(SignedBytes(then), 12),
                        PaddedLeft(SignedBytes(now), 12), part.meaning);
  };
  // In one order, whichever of the two has a part.
  size_t next = 0;
  for (const MemoryPart& part : of_last) {
    for (size_t i = next; i < of_highest.size(); ++i) {
      if (of_highest[i].name != part.name) continue;
      for (; next < i; ++next) line(of_highest[next]);
      next = i + 1;
    }
    line(part);
  }
  text += fmt::format("{} {}  RSS, the highest and the last that were measured\n",
                      PaddedLeft(FormatBytes(highest.rss_bytes), 12),
                      PaddedLeft(FormatBytes(last.rss_bytes), 12));
  std::string sources = SourceText(highest.allocator);
  const std::string of_last_sample = SourceText(last.allocator);
  if (of_last_sample != sources) sources += "; " + of_last_sample;
  text += Wrapped(sources, 0, style.width);
  if (said && memory.last_said != last.allocator) {
    text += Wrapped(LastSaidText(memory.last_said), 0, style.width);
  }
  return text;
}

}  // namespace memprof
