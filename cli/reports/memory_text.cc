#include "cli/reports/memory_text.h"

#include <fmt/format.h>

#include <vector>

#include "cli/terminal/text_table.h"
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

// The allocator's last figures, perhaps from the program's end. Pre: there are some.
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
  TextTable table({{"at " + FormatDuration(highest.time_ms), 12, 1},
                   {"at " + FormatDuration(last.time_ms), 12}},
                  "part", style);
  // A part that is missing in one of them is 0 there.
  const std::vector<MemoryPart> of_highest = PartsOf(highest), of_last = PartsOf(last);
  auto bytes_of = [](const std::vector<MemoryPart>& parts, const std::string& name) {
    int64_t bytes = 0;
    for (const MemoryPart& part : parts) bytes += part.name == name ? part.bytes : 0;
    return bytes;
  };
  auto line = [&](const MemoryPart& part) {
    const int64_t then = bytes_of(of_highest, part.name), now = bytes_of(of_last, part.name);
    if (then == 0 && now == 0) return;
    table.Add({{SignedBytes(then), SignedBytes(now)}, part.meaning});
  };
  // Both in one order, whichever has a part.
  size_t next = 0;
  for (const MemoryPart& part : of_last) {
    for (size_t i = next; i < of_highest.size(); ++i) {
      if (of_highest[i].name != part.name) continue;
      for (; next < i; ++next) line(of_highest[next]);
      next = i + 1;
    }
    line(part);
  }
  table.Add({{FormatBytes(highest.rss_bytes), FormatBytes(last.rss_bytes)},
             "RSS, the highest and the last whose parts were measured"});
  std::string text = "\n" + Bold("Where the resident memory is", style) + "\n" + table.Text();
  if (profile.program.rss_peak_bytes > highest.rss_bytes) {
    text += Wrapped(fmt::format("RSS was {} at its highest, by the kernel's own count, at a moment "
                                "when its parts were not measured",
                                FormatBytes(profile.program.rss_peak_bytes)),
                    0, style.width);
  }
  if (said && !Tells(highest.allocator) && !Tells(last.allocator)) {
    // Why nobody asked it before would read as if it had said nothing.
    return text + Wrapped("the allocator's part wasn't measured at these moments; " +
                              LastSaidText(memory.last_said),
                          0, style.width);
  }
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
