// ModuleTable: which mapped ELF file a code address lies in, by the loader's own lock-free table.
//
// A file that is loaded again where it was has its record again, and with it the nodes of the
// stacks that went through it: a program that loads its plugins again and again takes one record
// for each file and place. It is the same file if its extent, bias, path and build-id are.
//
// A module that lies where another one lay has mostly another extent or file offset; if not, it is
// told by its identity: the loader's record of it, its path, its dynamic section and its build-id.
// So an unload that no hook saw (libc's own of iconv and NSS modules) is noticed when the first new
// stack passes through what came instead. What stays possible: a file without a build-id that was
// replaced by another one of the same path and layout.
//
// Thread safety: any thread, also in a signal handler; lock-free. Two threads that meet a module at
// the same moment may enter it twice; equal modules are merged when read.
// Memory: 8 bytes a module. Memory order: a record is written before its `end` is released, and
// isn't changed any more; its identity is 0 while it isn't loaded.
// Failure: kNoModule for code of no file (JIT), and where a record or its path find no room, which
// is counted (RegionHeader.unnamed_frames).
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

  // The region is attached, and nobody else uses the table: nothing is known. False: no memory.
  bool Start();

  // The module of a pc, entered now if it is new.
  struct Found {
    uint32_t module = kNoModule;
    bool replaced = false;  // it lies where another one lay that is now marked unloaded
    bool again = false;     // it was marked unloaded until now: nodes of it are found again
  };
  Found Find(uint64_t pc);

  // Marks the modules that the loader does not know any more. True: there was one.
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
