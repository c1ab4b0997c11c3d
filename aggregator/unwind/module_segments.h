// ModuleSegments: a module's program headers, in memory. They tell which of its bytes can be read
// without a fault.
//
//   main program   AT_PHDR. If there are holes between its segments, the kernel keeps them, and
//                  _dl_find_object's range is that of one segment, which doesn't lead to the ELF
//                  header.
//   library        the loader reserves its whole range, so that the range starts with the ELF
//                  header, and the linker puts the program headers behind that.
//   rewritten      BOLT (rustc's libraries) and patchelf move the program headers to a segment that
//   library        they add. Only the loader's own record of the module (link_map) knows where that
//                  is. The field isn't public: InitModuleSegments looks for it in two records whose
//                  program headers are known otherwise.
//
// Thread safety: after InitModuleSegments, any thread. Async-signal-safe.
// Memory: a value; refers to the module's memory, which stays while code of it is on a stack.
// Failure: no segments.
#pragma once

#include <dlfcn.h>
#include <elf.h>

#include <cstdint>

#include "aggregator/basics/libc_functions.h"
#include "aggregator/unwind/byte_cursor.h"

namespace memprof {

struct ModuleSegments {
  const Elf64_Phdr* headers = nullptr;
  uint32_t count = 0;
  uintptr_t bias = 0;  // address minus the file's own address

  // The readable segment that holds `address`; empty if there is none.
  ByteRange Holding(uintptr_t address) const;
};

// Call it before the first SegmentsOf; a second call changes nothing.
void InitModuleSegments(FindObject find_object);

ModuleSegments SegmentsOf(const struct dl_find_object& object);

}  // namespace memprof
