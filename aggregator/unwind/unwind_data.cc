#include "aggregator/unwind/unwind_data.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>

namespace memprof {
namespace {

using FindObject = int (*)(void*, struct dl_find_object*);
FindObject g_find_object = nullptr;

constexpr uintptr_t kPage = 4096;

// A module's program headers, in memory.
struct Segments {
  const Elf64_Phdr* headers = nullptr;
  uint32_t count = 0;
  uintptr_t bias = 0;  // address minus the file's own address

  // The readable segment that holds `address`; empty if there is none.
  ByteRange Holding(uintptr_t address) const {
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
};

// The main program's. The kernel maps it with holes between its segments if it has any, and then
// _dl_find_object's range is that of one segment, which doesn't lead to the ELF header.
Segments g_main;
uintptr_t g_main_eh_frame_header = 0;

void FindMainProgram() {
  const uintptr_t address = getauxval(AT_PHDR);
  Segments main{reinterpret_cast<const Elf64_Phdr*>(address),
                static_cast<uint32_t>(getauxval(AT_PHNUM)), 0};
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

// Those of a shared library: the loader reserves its whole range, so that it starts with the ELF
// header.
Segments SegmentsOfLibrary(uintptr_t map_start) {
  const auto* elf = reinterpret_cast<const Elf64_Ehdr*>(map_start);
  if (__builtin_memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
      elf->e_phentsize != sizeof(Elf64_Phdr) || elf->e_phoff % alignof(Elf64_Phdr) != 0 ||
      elf->e_phoff > kPage || elf->e_phnum > (kPage - elf->e_phoff) / sizeof(Elf64_Phdr)) {
    return {};
  }
  const Segments segments{reinterpret_cast<const Elf64_Phdr*>(map_start + elf->e_phoff),
                          elf->e_phnum, 0};
  for (uint32_t i = 0; i < segments.count; ++i) {
    if (segments.headers[i].p_type != PT_LOAD) continue;
    return {segments.headers, segments.count,
            map_start - (segments.headers[i].p_vaddr & ~(kPage - 1))};
  }
  return {};
}

}  // namespace

bool InitUnwindData() {
  FindMainProgram();
  g_find_object = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  return g_find_object != nullptr;
}

CfiResult FindRow(uintptr_t pc, CfiRow& row, ByteRange& bytes) {
  if (g_find_object == nullptr) return CfiResult::kNoData;
  struct dl_find_object object;
  if (g_find_object(reinterpret_cast<void*>(pc), &object) != 0) return CfiResult::kNoData;
  const auto map_start = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
  const auto header = reinterpret_cast<uintptr_t>(object.dlfo_eh_frame);
  if (map_start == 0 || header == 0) return CfiResult::kNoData;
  const Segments segments =
      header == g_main_eh_frame_header ? g_main : SegmentsOfLibrary(map_start);
  bytes = segments.Holding(header);
  if (bytes.size() == 0) return CfiResult::kUnsupported;
  uintptr_t fde = 0;
  const CfiResult found = FindFde(bytes, header, pc, fde);
  if (found != CfiResult::kFound) return found;
  if (!bytes.Contains(fde)) bytes = segments.Holding(fde);
  return InterpretFde(bytes, fde, pc, row);
}

}  // namespace memprof
