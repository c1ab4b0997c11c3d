#include "aggregator/attach/hook_table.h"

#include <cstring>

#include "aggregator/allocator/find_real.h"
#include "aggregator/allocator/next_function.h"
#include "aggregator/allocator/real_allocator.h"

// clang-format off
#define MEMPROF_C_FUNCTIONS(f)                                                              \
  f(malloc) f(free) f(calloc) f(realloc) f(reallocarray) f(memalign) f(posix_memalign)       \
      f(aligned_alloc) f(valloc) f(pvalloc) f(free_sized) f(free_aligned_sized)
// clang-format on

// Only the addresses are used, so the types don't matter. Hidden, or the linker would export those
// that libc has too.
#define MEMPROF_DECLARE(name)     \
  __asm__(".hidden " #name "\n"); \
  extern "C" void memprof_address_of_##name() __asm__(#name);
MEMPROF_C_FUNCTIONS(MEMPROF_DECLARE)
MEMPROF_MAPPING_FUNCTIONS(MEMPROF_DECLARE)
MEMPROF_DECLARE(mmap64)
MEMPROF_DECLARE(brk)
MEMPROF_DECLARE(sbrk)
MEMPROF_DECLARE(mlockall)
MEMPROF_HOOKED_FUNCTIONS(MEMPROF_DECLARE)
#undef MEMPROF_DECLARE

// hooks_loader.cc
extern "C" {
void memprof_hook_dlopen();
void memprof_hook_dlmopen();
void memprof_hook_dlsym();
void memprof_hook_dlvsym();
__attribute__((visibility("hidden"))) void* memprof_real_loader[4] = {};
}

namespace memprof {
namespace {

NamedHook hooks[] = {
#define MEMPROF_ENTRY(name) {#name, reinterpret_cast<void*>(&memprof_address_of_##name), nullptr},
    MEMPROF_C_FUNCTIONS(MEMPROF_ENTRY) MEMPROF_HOOKED_FUNCTIONS(MEMPROF_ENTRY)
        MEMPROF_ENTRY(mlockall)
#undef MEMPROF_ENTRY
            {"dlopen", reinterpret_cast<void*>(&memprof_hook_dlopen), nullptr},
    {"dlmopen", reinterpret_cast<void*>(&memprof_hook_dlmopen), nullptr},
    {"dlsym", reinterpret_cast<void*>(&memprof_hook_dlsym), nullptr},
    {"dlvsym", reinterpret_cast<void*>(&memprof_hook_dlvsym), nullptr},
};
constexpr size_t kHooks = sizeof hooks / sizeof hooks[0];

}  // namespace

bool FindRealFunctions() {
  for (NamedHook& hook : hooks) hook.real = FindReal(hook.name);
  // The loader's hooks at the end continue in the real function by a jump, so they need its
  // address.
  for (size_t i = 0; i < 4; ++i) {
    NamedHook& hook = hooks[kHooks - 4 + i];
    memprof_real_loader[i] = hook.real;
    if (hook.real == nullptr) hook.hook = nullptr;
  }
  return ResolveRealAllocator() && real.malloc != nullptr && real.free != nullptr;
}

const NamedHook* FindHook(const char* name) {
  if (strchr("mfcrpvads_", name[0]) == nullptr) return nullptr;
  for (const NamedHook& hook : hooks) {
    if (hook.hook != nullptr && strcmp(hook.name, name) == 0) return &hook;
  }
  return nullptr;
}

bool IsHook(const void* function) {
  for (const NamedHook& hook : hooks) {
    if (hook.hook == function) return true;
  }
  return false;
}

}  // namespace memprof
