// ModuleTable: which mapped ELF file a code address lies in, by the loader's own lock-free table.
//
// Thread safety: any thread, also in a signal handler; lock-free. Two threads that meet a module at
// the same moment may enter it twice; equal modules are merged when read.
// Failure: kNoModule for code of no file (JIT) and when the table is full.
// Assumes that an address that _dl_find_object knows stays mapped while a frame of it is on the
// stack of the caller.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#include "aggregator/region.h"

namespace memprof {

class ModuleTable {
 public:
  constexpr explicit ModuleTable(const Region& region) : region_(region) {}

  // Finds _dl_find_object. False: this libc has none.
  static bool Init();

  // The module of a pc, entered now if it is new. `replaced` is set when it lies where another one
  // lay that is now marked unloaded.
  uint32_t Find(uint64_t pc, bool* replaced);

  // Marks the modules that the loader does not know any more. True: there was one.
  bool MarkUnloaded();
  bool IsUnloaded(uint32_t module) const;

 private:
  uint32_t Enter(const dl_find_object& object);
  bool MarkOverlapped(uint64_t start, uint64_t end);

  const Region& region_;
};

}  // namespace memprof
