#include "cli/reports/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
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

// Where a Python interpreter's pools are.
void AddPools(const Profile& profile, std::vector<std::string>& notes) {
  const PythonArenas& arenas = profile.python_arenas;
  if (arenas.peak.bytes != 0 || arenas.leaked.bytes != 0) {
    notes.push_back(fmt::format(
        "pools of small Python objects are {} of what the program had mapped at most, and {} of "
        "what it has mapped last; memprof run --trace-python-allocators counts their objects",
        FormatBytes(arenas.peak.bytes), FormatBytes(arenas.leaked.bytes)));
  }
  if (std::any_of(profile.sites.begin(), profile.sites.end(), [](const ProfileSite& site) {
        return site.kind == AllocatorKind::kPymallocMalloc;
      })) {
    notes.push_back(
        "small Python objects are counted one by one: what their pools keep beside them is in the "
        "allocator's part");
  }
}

MemoryTable TableOf(const Profile& profile) {
  const MemoryRecord& memory = profile.memory;
  const bool said = Tells(memory.last_said);
  MemoryTable table;
  if (memory.samples.empty()) {
    if (said) table.notes.push_back(LastSaidText(memory.last_said));
    return table;
  }
  const MemorySample& last = memory.samples.back();
  const MemorySample& highest = *HighestOf(memory);
  table.is_measured = true;
  table.highest_ms = highest.time_ms;
  table.last_ms = last.time_ms;
  table.highest_rss_bytes = highest.rss_bytes;
  table.last_rss_bytes = last.rss_bytes;
  // A part that is missing in one of them is 0 there.
  const std::vector<MemoryPart> of_highest = PartsOf(highest), of_last = PartsOf(last);
  auto bytes_of = [](const std::vector<MemoryPart>& parts, const std::string& name) {
    int64_t bytes = 0;
    for (const MemoryPart& part : parts) bytes += part.name == name ? part.bytes : 0;
    return bytes;
  };
  auto line = [&](const MemoryPart& part) {
    const int64_t then = bytes_of(of_highest, part.name), now = bytes_of(of_last, part.name);
    if (then != 0 || now != 0) table.rows.push_back({part.meaning, then, now});
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
  if (profile.program.rss_peak_bytes > highest.rss_bytes) {
    table.notes.push_back(
        fmt::format("RSS was {} at its highest, by the kernel's own count, at a moment when its "
                    "parts were not measured",
                    FormatBytes(profile.program.rss_peak_bytes)));
  }
  if (said && !Tells(highest.allocator) && !Tells(last.allocator)) {
    // Why nobody asked it before would read as if it had said nothing.
    table.notes.push_back("the allocator's part wasn't measured at these moments; " +
                          LastSaidText(memory.last_said));
    return table;
  }
  std::string sources = SourceText(highest.allocator);
  const std::string of_last_sample = SourceText(last.allocator);
  if (of_last_sample != sources) sources += "; " + of_last_sample;
  table.notes.push_back(std::move(sources));
  if (said && memory.last_said != last.allocator) {
    table.notes.push_back(LastSaidText(memory.last_said));
  }
  return table;
}

// What an inspection says of the allocator's part.
void AddPinned(const Profile& profile, std::vector<std::string>& notes) {
  const SnapshotInspection& inspection = profile.inspection;
  uint64_t free_bytes = 0;
  for (const InspectedRow& row : inspection.rows) free_bytes += row.free_bytes;
  if (free_bytes == 0) return;
  notes.push_back(
      fmt::format("at {} {} of the allocator's part was free, on pages that live blocks keep; "
                  "memprof inspect says which places' blocks",
                  FormatDuration(inspection.time_ms), FormatBytes(free_bytes)));
}

}  // namespace

MemoryTable MemoryTableOf(const Profile& profile) {
  MemoryTable table = TableOf(profile);
  AddPools(profile, table.notes);
  AddPinned(profile, table.notes);
  return table;
}

std::string MemoryText(const MemoryTable& memory, const TextStyle& style) {
  std::string text;
  if (memory.is_measured) {
    TextTable table({{"at " + FormatDuration(memory.highest_ms), 12, 1},
                     {"at " + FormatDuration(memory.last_ms), 12}},
                    "part", style);
    for (const MemoryTableRow& row : memory.rows) {
      table.Add({{SignedBytes(row.highest_bytes), SignedBytes(row.last_bytes)}, row.meaning});
    }
    table.Add({{FormatBytes(memory.highest_rss_bytes), FormatBytes(memory.last_rss_bytes)},
               "RSS, the highest and the last whose parts were measured"});
    text = Bold("Where the resident memory is", style) + "\n" + table.Text();
  }
  for (const std::string& note : memory.notes) text += Wrapped(note, 0, style.width);
  return text.empty() ? text : "\n" + text;
}

std::string MemoryText(const Profile& profile, const TextStyle& style) {
  return MemoryText(MemoryTableOf(profile), style);
}

}  // namespace memprof
