// Attached: the program is bound to its own functions, and our hooks are put into its slots.

#include "aggregator/attach/attached.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>

#include <cstring>

#include "aggregator/allocator/find_real.h"
#include "aggregator/allocator/loaded_objects.h"
#include "aggregator/allocator/real_allocator.h"
#include "aggregator/attach/got_slots.h"
#include "aggregator/basics/libc_functions.h"
#include "aggregator/basics/loaded_symbols.h"
#include "aggregator/basics/region.h"
#include "aggregator/events/python_frames.h"
#include "aggregator/events/unseen_blocks.h"
#include "aggregator/start/handshake_client.h"
#include "aggregator/start/loading.h"
#include "aggregator/state/process_tables.h"

namespace memprof {
namespace {

using UsableSize = size_t(void*);

constinit const char* socket_path = nullptr;
constinit UsableSize* usable_size = nullptr;

const link_map* ObjectOf(void* function) {
  const FindObject find = TheLibc().find_object;
  dl_find_object object;
  return function != nullptr && find != nullptr && find(function, &object) == 0
             ? object.dlfo_link_map
             : nullptr;
}

}  // namespace

// The function that a reference of the program is bound to. In an executable that isn't
// position-independent dlsym may return one of its PLT entries, which uses the slot that we hook:
// that is no definition.
void* FindReal(const char* name) {
  Definitions found;
  FindDefinitions(nullptr, &name, 1, &found);
  if (found.count < 2) return found.first;
  void* const symbol = AskLoader(RTLD_DEFAULT, name);
  return ObjectOf(symbol) == LoadedObjects() ? found.first : symbol;
}

void* FindGlobal(const char* name) { return FindReal(name); }

void SetSocketPath(const char* path) { socket_path = path; }
MappedRegion GetRegion() {
  return socket_path != nullptr ? ReceiveRegion(socket_path) : MappedRegion();
}
void NoteExit() {}

bool BeforeCounting() {
  process_region.header().attached.store(1, std::memory_order_relaxed);
  IterateObjects(
      [](dl_phdr_info*, size_t, void*) {
        StartPython();
        return 1;
      },
      nullptr);
  return HookAllModules();
}

void FindUsableSize() {
  void* const symbol = FindReal("malloc_usable_size");
  void* allocator;
  memcpy(&allocator, &real.malloc, sizeof allocator);
  // Another allocator's function doesn't know these blocks.
  if (symbol != nullptr && ObjectOf(symbol) == ObjectOf(allocator)) {
    memcpy(&usable_size, &symbol, sizeof symbol);
  }
}

uint64_t UnseenSize(const void* address) {
  return usable_size != nullptr ? usable_size(const_cast<void*>(address)) : 1;
}

void CountUnseenRealloc(uint64_t size) {
  if (size == 0) return;
  RegionHeader& header = process_region.header();
  Count(header.before_attach_frees);
  if (usable_size != nullptr) Count(header.before_attach_bytes, size);
}

void CountUnseenDelete(uint64_t size) { CountUnseenRealloc(size); }
void CountUnseenFree(const void* address) { CountUnseenRealloc(UnseenSize(address)); }

}  // namespace memprof
