#include "cli/inspect/address_space.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "cli/basics/proc_files.h"
#include "core/region/mapping_line.h"

namespace memprof {
namespace {

constexpr size_t kMostText = size_t{256} << 20;  // of 300,000 mappings
constexpr unsigned kMostHeaders = 64;

bool HasFlag(std::string_view flags, std::string_view flag) {
  return flags.find(flag) != std::string_view::npos;
}

}  // namespace

std::vector<SpaceMapping> ParseMappings(const std::string& smaps) {
  std::vector<SpaceMapping> mappings;
  for (size_t at = 0; at < smaps.size();) {
    const size_t end = std::min(smaps.find('\n', at), smaps.size());
    const std::string_view line(smaps.data() + at, end - at);
    at = end + 1;
    constexpr std::string_view kFlags = "VmFlags:";
    if (line.starts_with(kFlags)) {
      const std::string_view flags = line.substr(kFlags.size());
      if (!mappings.empty()) {
        mappings.back().like_trackers = HasFlag(flags, " dd") && HasFlag(flags, " nr") &&
                                        (HasFlag(flags, " nh") || HasFlag(flags, " hg"));
        mappings.back().not_copied = HasFlag(flags, " dc");
        mappings.back().wiped = HasFlag(flags, " wf");
      }
      continue;
    }
    const auto mapping = ParseMappingLine(line);
    if (!mapping) continue;
    SpaceMapping entry;
    entry.range = {mapping->start, mapping->end};
    entry.offset = mapping->offset;
    entry.readable = mapping->permissions.find('r') != std::string_view::npos;
    entry.writable = mapping->permissions.find('w') != std::string_view::npos;
    entry.shared = mapping->permissions.find('s') != std::string_view::npos;
    entry.name = mapping->name;
    mappings.push_back(std::move(entry));
  }
  return mappings;
}

std::vector<SpaceMapping> MappingsOf(pid_t pid) {
  return ParseMappings(ProcText(pid, "smaps", kMostText));
}

namespace {

bool HasAnother(pid_t process, const std::vector<SpaceMapping>& mappings) {
  ProcessMaps maps(process);
  auto known = mappings.begin();
  for (std::string line; maps.Next(line);) {
    const auto mapping = ParseMappingLine(line);
    if (!mapping || mapping->permissions.find('s') != std::string_view::npos) continue;
    while (known != mappings.end() && known->range.end <= mapping->start) ++known;
    if (known == mappings.end() || known->range.begin >= mapping->end) return true;
  }
  return false;
}

}  // namespace

std::vector<AddressRange> NotInCopy(pid_t process, std::vector<SpaceMapping>& of_copy) {
  // The kernel's answer with flags costs the process more.
  if (HasAnother(process, of_copy)) {
    for (SpaceMapping& mapping : MappingsOf(process)) {
      // A device's memory has a name.
      if (mapping.not_copied && !mapping.shared && !mapping.like_trackers &&
          !mapping.name.starts_with("[v") && !mapping.name.starts_with("/dev/")) {
        of_copy.push_back(std::move(mapping));
      }
    }
    std::sort(of_copy.begin(), of_copy.end(), [](const SpaceMapping& a, const SpaceMapping& b) {
      return a.range.begin < b.range.begin;
    });
  }
  std::vector<AddressRange> ranges;
  for (const SpaceMapping& mapping : of_copy) {
    const bool is_missing = mapping.not_copied || (mapping.wiped && !mapping.like_trackers);
    if (is_missing && !mapping.shared && !mapping.name.starts_with("[v")) {
      ranges.push_back(mapping.range);
    }
  }
  return ranges;
}

std::vector<SpaceModule> ModulesOf(const std::vector<SpaceMapping>& mappings,
                                   const MemorySource& memory) {
  std::vector<SpaceModule> modules;
  for (const SpaceMapping& mapping : mappings) {
    if (mapping.offset != 0 || !mapping.readable || !mapping.name.starts_with("/")) continue;
    Elf64_Ehdr header;
    const auto read = [&memory](uint64_t address, auto& to) {
      memory.Read(address, {reinterpret_cast<unsigned char*>(&to), sizeof to});
    };
    read(mapping.range.begin, header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostHeaders) {
      continue;
    }
    SpaceModule module = {mapping.name, mapping.range.begin, {}};
    const uint64_t bias = header.e_type == ET_DYN ? mapping.range.begin : 0;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      read(mapping.range.begin + header.e_phoff + i * sizeof segment, segment);
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
      const uint64_t begin = (bias + segment.p_vaddr) / kPage * kPage;
      const uint64_t end = (bias + segment.p_vaddr + segment.p_memsz + kPage - 1) / kPage * kPage;
      if (begin < end) module.data.push_back({begin, end});
    }
    modules.push_back(std::move(module));
  }
  return modules;
}

}  // namespace memprof
