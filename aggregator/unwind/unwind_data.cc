#include "aggregator/unwind/unwind_data.h"

#include <dlfcn.h>
#include <elf.h>

namespace memprof {
namespace {

using FindObject = int (*)(void*, struct dl_find_object*);
FindObject g_find_object = nullptr;

constexpr uintptr_t kPage = 4096;

// The readable segment of the module at `map_start` that holds `address`; empty if there is none.
ByteRange SegmentOf(uintptr_t map_start, uintptr_t address) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(map_start);
  if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % alignof(Elf64_Phdr) != 0 ||
      header->e_phoff > kPage || header->e_phnum > (kPage - header->e_phoff) / sizeof(Elf64_Phdr)) {
    return {};
  }
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(map_start + header->e_phoff);
  uintptr_t bias = 0;
  bool have_bias = false;
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_LOAD) continue;
    if (!have_bias) {
      bias = map_start - (segment.p_vaddr & ~(kPage - 1));
      have_bias = true;
    }
    const uintptr_t begin = bias + segment.p_vaddr;
    if ((segment.p_flags & PF_R) != 0 && address - begin < segment.p_filesz) {
      return {begin, begin + segment.p_filesz};
    }
  }
  return {};
}

}  // namespace

bool InitUnwindData() {
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
  bytes = SegmentOf(map_start, header);
  uintptr_t fde = 0;
  const CfiResult found = FindFde(bytes, header, pc, fde);
  if (found != CfiResult::kFound) return found;
  if (!bytes.Contains(fde)) bytes = SegmentOf(map_start, fde);
  return InterpretFde(bytes, fde, pc, row);
}

}  // namespace memprof
