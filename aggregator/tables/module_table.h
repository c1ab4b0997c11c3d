// ModuleTable: which mapped ELF file a code address lies in, by the loader's own lock-free table.
//
// A module that lies where another one lay has mostly another extent or file offset; if not, it is
// told by its identity: the loader's record of it, its path, its dynamic section and its build-id.
// So an unload that no hook saw (libc's own of iconv and NSS modules) is noticed when the first new
// stack passes through what came instead. What stays possible: a file without a build-id that was
// replaced by another one of the same path and layout.
//
// Thread safety: any thread, also in a signal handler; lock-free. Two threads that meet a module at
// the same moment may enter it twice; equal modules are merged when read.
// Failure: kNoModule for code of no file (JIT) and when the table is full.
// Assumes that an address that _dl_find_object knows stays mapped while a frame of it is on the
// stack of the caller.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "aggregator/region.h"

namespace memprof {

class ModuleTable {
 public:
  constexpr explicit ModuleTable(const Region& region) : region_(region) {}

  // Finds _dl_find_object and the path of the program. False: this libc has no such function.
  static bool Init();

  // The mapped range of the file that an address lies in. False: of none.
  static bool FindRange(const void* address, uintptr_t* start, uintptr_t* end);

  // The module of a pc, entered now if it is new. `replaced` is set when it lies where another one
  // lay that is now marked unloaded.
  uint32_t Find(uint64_t pc, bool* replaced);

  // Marks the modules that the loader does not know any more. True: there was one.
  bool MarkUnloaded();
  bool IsUnloaded(uint32_t module) const;

 private:
  static constexpr uint32_t kMaxModules = 4096;

  bool Is(uint32_t module, const dl_find_object& object, uint64_t identity) const;
  uint32_t Enter(const dl_find_object& object, uint64_t identity);
  bool MarkOverlapped(const dl_find_object& object, uint64_t identity);

  const Region& region_;
  std::atomic<uint64_t> identities_[kMaxModules] = {};  // by module, stored before its end
};

}  // namespace memprof
