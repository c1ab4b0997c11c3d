// ModuleTable: finds the mapped ELF file that a code address is in, by the loader's own lock-free
// table.
//
// A file that is loaded again at its old place gets its old record, and with it the nodes of the
// stacks that went through it. A program that loads its plugins again and again therefore takes one
// record for each file and place. Two files are the same if extent, bias, path and build-id are.
//
// A module at the place of another one usually has another extent or file offset. If not, it is
// told by its identity: the loader's record of it, its path, its dynamic section and its build-id.
// So an unload that no hook saw (libc's own of iconv and NSS modules) is noticed when the first new
// stack passes through the new module. One case remains: a file without a build-id that was
// replaced by another one with the same path and layout.
//
// Thread safety: any thread, also in a signal handler; lock-free. Two threads that meet a module at
// the same moment may enter it twice; equal modules are merged when read.
// Memory: 8 bytes a module.
// Memory order: a record is written before its `end` is released, and isn't changed any more; its
// identity is 0 while it isn't loaded.
// Failure: kNoModule for code in no file (JIT), and if there is no room for a record or its path,
// which is counted (RegionHeader.unnamed_frames). Assumes that an address known to _dl_find_object
// stays mapped while a frame of it is on the caller's stack.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "aggregator/basics/region.h"

namespace memprof {

class ModuleTable {
 public:
  constexpr explicit ModuleTable(const Region& region) : region_(region) {}

  // Finds _dl_find_object and the path of the program. False: this libc has no such function.
  static bool Init();

  // The mapped range of the file that an address is in. False: it is in none.
  static bool FindRange(const void* address, uintptr_t* start, uintptr_t* end);

  // Pre: the region is attached, and nobody else uses the table. Forgets everything. False: no
  // memory.
  bool Start();

  // The module of a pc; a new one is entered.
  struct Found {
    uint32_t module = kNoModule;
    bool replaced = false;  // it is at the place of another one, which is now marked unloaded
    bool again = false;     // it was marked unloaded until now: its nodes are found again
  };
  Found Find(uint64_t pc);

  // Marks the modules that the loader no longer knows. True: there was one.
  bool MarkUnloaded();
  bool IsUnloaded(uint32_t module) const {
    return module != kNoModule && identities_[module].load(std::memory_order_acquire) == 0;
  }

 private:
  const ModuleRecord& Record(uint32_t module) const {
    return region_.Records<ModuleRecord>(Table::kModules)[module];
  }
  bool Is(uint32_t module, const dl_find_object& object, uint64_t identity) const;
  bool TakeAgain(const dl_find_object& object, uint64_t identity, uint32_t* module);
  uint32_t Enter(const dl_find_object& object, uint64_t identity);
  bool MarkOverlapped(const dl_find_object& object, uint64_t identity);
  uint32_t PathOf(const char* path, size_t bytes);

  const Region& region_;
  std::atomic<uint64_t>* identities_ = nullptr;  // by module, stored before its end
  size_t identities_bytes_ = 0;
};

}  // namespace memprof
