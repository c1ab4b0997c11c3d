#include "cli/supervisor/images/resident_parts.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "core/region/mapping_line.h"

namespace memprof {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kLargestGuard = 64 * 1024;
// The pages that are looked up one by one: 64 GiB of address space. Beyond that, a part is assumed
// to be as resident as its whole mapping.
constexpr uint64_t kMostPages = uint64_t{16} << 20;

uint64_t Number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool IsTrackersLibrary(const std::string& name) {
  return name.find("libmemprof_") != std::string::npos;
}

bool IsAnonymous(const KernelMapping& mapping) {
  return mapping.name.empty() || mapping.name == "[heap]" || mapping.name.starts_with("[anon");
}

bool IsGuardOf(const KernelMapping& guard, const KernelMapping& mapping) {
  return guard.end == mapping.start && guard.permissions.starts_with("---") && IsAnonymous(guard) &&
         guard.end - guard.start <= kLargestGuard && mapping.name.empty() &&
         mapping.permissions.starts_with("rw");
}

}  // namespace

std::vector<KernelMapping> ParseSmaps(std::string_view text) {
  std::vector<KernelMapping> mappings;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    constexpr std::string_view kRss = "Rss:";
    if (line.starts_with(kRss)) {
      const size_t at = std::min(line.find_first_not_of(' ', kRss.size()), line.size());
      if (!mappings.empty()) mappings.back().resident_bytes = Number(line.substr(at)) * 1024;
    } else if (const auto mapping = ParseMappingLine(line)) {
      mappings.push_back({mapping->start, mapping->end, 0, std::string(mapping->permissions),
                          std::string(mapping->name)});
    }
  }
  return mappings;
}

uint64_t ResidentByPagemap(int pagemap_fd, uint64_t start, uint64_t end) {
  constexpr uint64_t kPresent = uint64_t{1} << 63;
  uint64_t pages[512];
  uint64_t resident = 0;
  const uint64_t last = (end + kPage - 1) / kPage;
  for (uint64_t page = start / kPage; page < last;) {
    const size_t wanted = std::min<uint64_t>(std::size(pages), last - page) * sizeof pages[0];
    const ssize_t n = pread(pagemap_fd, pages, wanted, static_cast<off_t>(page * sizeof pages[0]));
    if (n < static_cast<ssize_t>(sizeof pages[0])) break;
    const size_t count = static_cast<size_t>(n) / sizeof pages[0];
    for (size_t i = 0; i < count; ++i) resident += (pages[i] & kPresent) != 0 ? kPage : 0;
    page += count;
  }
  return resident;
}

MemorySample ResidentParts(const std::vector<KernelMapping>& kernel,
                           const std::vector<LiveRange>& ranges, const TrackerMemory& tracker,
                           uint64_t stack_limit, int pagemap_fd, ResidentBytesIn resident_in) {
  MemorySample sample;
  uint64_t library_bytes = 0;
  auto next = ranges.begin();
  // The program's mapping may be a small part of a kernel's mapping of any size.
  uint64_t pages_left = kMostPages;
  const auto resident_of = [&](uint64_t start, uint64_t end, uint64_t rest) -> uint64_t {
    const uint64_t pages = (end - start) / kPage + 1;
    if (rest == 0 || pages > pages_left) return std::min(rest, end - start);
    pages_left -= pages;
    return std::min(rest, resident_in(pagemap_fd, start, end));
  };
  for (size_t i = 0; i < kernel.size(); ++i) {
    const KernelMapping& mapping = kernel[i];
    uint64_t rest = mapping.resident_bytes;
    sample.rss_bytes += rest;
    while (next != ranges.end() && next->end <= mapping.start) ++next;
    uint64_t covered = 0;
    for (auto at = next; at != ranges.end() && at->start < mapping.end; ++at) {
      const uint64_t start = std::max(at->start, mapping.start);
      const uint64_t end = std::min(at->end, mapping.end);
      covered += end - start;
      const uint64_t resident =
          start == mapping.start && end == mapping.end ? rest : resident_of(start, end, rest);
      rest -= resident;
      (at->what.kind == MappingKind::kFile ? sample.mapped_file_bytes : sample.mapped_bytes) +=
          resident;
    }
    const bool library = IsTrackersLibrary(mapping.name);
    if (library || (!mapping.name.empty() && mapping.name == tracker.region)) {
      sample.tracker_bytes += rest;
      library_bytes += library ? rest : 0;
    } else if (mapping.name == "[stack]") {
      sample.stack_bytes += rest;
    } else if (!IsAnonymous(mapping)) {
      sample.file_bytes += rest;
    } else {
      uint64_t stack = 0;
      if (i > 0 && IsGuardOf(kernel[i - 1], mapping)) {
        // The kernel may have merged the stack with the mapping above it.
        uint64_t end = std::min(mapping.end, mapping.start + stack_limit);
        if (covered != 0) end = std::min(end, std::max(next->start, mapping.start));
        stack = end == mapping.end ? rest : resident_of(mapping.start, end, rest);
      }
      sample.stack_bytes += stack;
      sample.anonymous_bytes += rest - stack;
    }
  }
  // The tracker's tables are anonymous as well.
  const uint64_t tables =
      std::min(sample.anonymous_bytes,
               tracker.private_bytes > library_bytes ? tracker.private_bytes - library_bytes : 0);
  sample.anonymous_bytes -= tables;
  sample.tracker_bytes += tables;
  return sample;
}

}  // namespace memprof
