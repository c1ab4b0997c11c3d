#include "aggregator/unwind/module_segments.h"

#include <link.h>

namespace memprof {
namespace {

constexpr uintptr_t kPage = 4096;

ModuleSegments g_main;
uintptr_t g_main_eh_frame_header = 0;

// The offset of the pointer to the program headers in a link_map; 0: not known.
uintptr_t g_headers_in_record = 0;

template <typename T>
T Load(uintptr_t address) {
  T value;
  __builtin_memcpy(&value, reinterpret_cast<const void*>(address), sizeof(value));
  return value;
}

void FindMainProgram() {
  const uintptr_t address = AuxiliaryValue(AT_PHDR);
  ModuleSegments main{reinterpret_cast<const Elf64_Phdr*>(address),
                      static_cast<uint32_t>(AuxiliaryValue(AT_PHNUM)), 0};
  const Elf64_Phdr* eh_frame_header = nullptr;
  bool have_bias = false;
  for (uint32_t i = 0; address != 0 && i < main.count; ++i) {
    const Elf64_Phdr& header = main.headers[i];
    if (header.p_type == PT_PHDR) {
      main.bias = address - header.p_vaddr;
      have_bias = true;
    }
    if (header.p_type == PT_GNU_EH_FRAME) eh_frame_header = &header;
  }
  if (!have_bias || eh_frame_header == nullptr) return;
  g_main = main;
  g_main_eh_frame_header = main.bias + eh_frame_header->p_vaddr;
}

ModuleSegments SegmentsOfLibrary(uintptr_t map_start) {
  const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(map_start);
  if (__builtin_memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
      elf->e_phentsize != sizeof(Elf64_Phdr) || elf->e_phoff % alignof(Elf64_Phdr) != 0 ||
      elf->e_phoff > kPage || elf->e_phnum > (kPage - elf->e_phoff) / sizeof(Elf64_Phdr)) {
    return {};
  }
  const ModuleSegments segments{reinterpret_cast<const Elf64_Phdr*>(map_start + elf->e_phoff),
                                elf->e_phnum, 0};
  for (uint32_t i = 0; i < segments.count; ++i) {
    if (segments.headers[i].p_type != PT_LOAD) continue;
    return {segments.headers, segments.count,
            map_start - (segments.headers[i].p_vaddr & ~(kPage - 1))};
  }
  return {};
}

// glibc's order since 2.0: l_phdr, l_entry, l_phnum.
constexpr uintptr_t kCountBehindHeaders = 16;

uintptr_t HeadersIn(uintptr_t record, uintptr_t at) { return Load<uintptr_t>(record + at); }
uint16_t CountIn(uintptr_t record, uintptr_t at) {
  return Load<uint16_t>(record + at + kCountBehindHeaders);
}

void FindHeadersInRecords(FindObject find_object) {
  constexpr uintptr_t kSearched = 1024;  // of a record's 1100 bytes and more
  void* const in_libc = TheLibc().in_libc;
  struct dl_find_object main;
  struct dl_find_object libc;
  if (in_libc == nullptr || find_object(in_libc, &libc) != 0 ||
      find_object(reinterpret_cast<void*>(AuxiliaryValue(AT_ENTRY)), &main) != 0) {
    return;
  }
  const ModuleSegments libc_segments =
      SegmentsOfLibrary(reinterpret_cast<uintptr_t>(libc.dlfo_map_start));
  const auto main_record = reinterpret_cast<uintptr_t>(main.dlfo_link_map);
  const auto libc_record = reinterpret_cast<uintptr_t>(libc.dlfo_link_map);
  if (libc_segments.count == 0 || main_record == 0 || libc_record == 0) return;
  for (uintptr_t at = sizeof(link_map); at < kSearched; at += sizeof(uintptr_t)) {
    if (HeadersIn(main_record, at) == AuxiliaryValue(AT_PHDR) &&
        CountIn(main_record, at) == AuxiliaryValue(AT_PHNUM) &&
        HeadersIn(libc_record, at) == reinterpret_cast<uintptr_t>(libc_segments.headers) &&
        CountIn(libc_record, at) == libc_segments.count) {
      g_headers_in_record = at;
      return;
    }
  }
}

ModuleSegments SegmentsByRecord(const struct dl_find_object& object) {
  const auto record = reinterpret_cast<uintptr_t>(object.dlfo_link_map);
  if (g_headers_in_record == 0 || record == 0) return {};
  const uintptr_t headers = HeadersIn(record, g_headers_in_record);
  if (headers == 0 || headers % alignof(Elf64_Phdr) != 0) return {};
  const ModuleSegments segments{reinterpret_cast<const Elf64_Phdr*>(headers),
                                CountIn(record, g_headers_in_record), object.dlfo_link_map->l_addr};
  // They are this module's if they describe the addresses where the loader found it.
  for (uint32_t i = 0; i < segments.count; ++i) {
    if (segments.headers[i].p_type == PT_GNU_EH_FRAME &&
        segments.bias + segments.headers[i].p_vaddr ==
            reinterpret_cast<uintptr_t>(object.dlfo_eh_frame)) {
      return segments;
    }
  }
  return {};
}

}  // namespace

ByteRange ModuleSegments::Holding(uintptr_t address) const {
  for (uint32_t i = 0; i < count; ++i) {
    const Elf64_Phdr& segment = headers[i];
    const uintptr_t begin = bias + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 &&
        address - begin < segment.p_filesz) {
      return {begin, begin + segment.p_filesz};
    }
  }
  return {};
}

void InitModuleSegments(FindObject find_object) {
  FindMainProgram();
  FindHeadersInRecords(find_object);
}

ModuleSegments SegmentsOf(const struct dl_find_object& object) {
  const auto eh_frame_header = reinterpret_cast<uintptr_t>(object.dlfo_eh_frame);
  if (eh_frame_header != 0 && eh_frame_header == g_main_eh_frame_header) return g_main;
  const ModuleSegments segments =
      SegmentsOfLibrary(reinterpret_cast<uintptr_t>(object.dlfo_map_start));
  return segments.count != 0 ? segments : SegmentsByRecord(object);
}

}  // namespace memprof
