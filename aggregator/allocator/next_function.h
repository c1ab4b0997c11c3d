// NextFunction: the real function behind a hook, for hooks that aren't the C allocator's
// (real_allocator.h).
//
//   had at start      the program's global scope had it when our constructor ran: valid for all
//   came later        a plugin brought it, perhaps in a scope of its own. Each calling module gets
//                     what its own reference would be bound to, found at its first call and
//                     remembered until the module is gone; also if nobody has it
//
// dlsym takes the loader's lock. Another thread may hold that lock in dlopen, while a constructor
// waits for a lock of our caller. dlsym also allocates for a name that nobody has, and our caller
// may be an allocator. So the objects that the program is started with are searched without dlsym
// (loaded_symbols.h). It is called later, only if the answer depends on what only the loader knows
// (loaded_objects.h). Functions that don't allocate are in libc, and are found at the start or
// never.
//
// Thread safety: any thread. Memory: a table for 128 modules; a caller in a further module is
// looked up at each call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memprof {

// clang-format off
// Those that hooks stand in for, wherever the tracker comes from.
#define MEMPROF_HOOKED_FUNCTIONS(f)                                                       \
  f(_Znwm) f(_Znam) f(_ZnwmRKSt9nothrow_t) f(_ZnamRKSt9nothrow_t) f(_ZnwmSt11align_val_t) \
  f(_ZnamSt11align_val_t) f(_ZnwmSt11align_val_tRKSt9nothrow_t)                           \
  f(_ZnamSt11align_val_tRKSt9nothrow_t) f(_ZdlPv) f(_ZdaPv) f(_ZdlPvRKSt9nothrow_t)       \
  f(_ZdaPvRKSt9nothrow_t) f(_ZdlPvm) f(_ZdaPvm) f(_ZdlPvSt11align_val_t)                  \
  f(_ZdaPvSt11align_val_t) f(_ZdlPvSt11align_val_tRKSt9nothrow_t)                         \
  f(_ZdaPvSt11align_val_tRKSt9nothrow_t) f(_ZdlPvmSt11align_val_t)                        \
  f(_ZdaPvmSt11align_val_t) f(_ZSt15get_new_handlerv) f(_ZSt15set_new_handlerPFvvE)       \
  f(__cxa_allocate_exception) f(dlclose) f(pthread_setname_np) f(prctl)
// Only in a preload: after an attach the earlier mappings are not known.
#define MEMPROF_MAPPING_FUNCTIONS(f) f(mmap) f(munmap) f(mremap) f(mprotect)
// The loader's functions: the modules that they bring may bypass the hooks (hooks/bypasses.h).
#define MEMPROF_LOADING_FUNCTIONS(f) f(dlopen) f(dlmopen)
// What ends the process, or its main thread (hooks/hooks_ending.cc); only in a preload.
#define MEMPROF_ENDING_FUNCTIONS(f) f(exit) f(quick_exit) f(_exit) f(_Exit) f(pthread_exit)
// Functions by which an allocator is recognised, or asked; they are never hooked.
#define MEMPROF_ASKED_FUNCTIONS(f) \
  f(mallctl) f(gnu_get_libc_version) f(mi_process_info) f(MallocExtension_GetNumericProperty)
#define MEMPROF_NEXT_FUNCTIONS(f) \
  MEMPROF_HOOKED_FUNCTIONS(f) MEMPROF_MAPPING_FUNCTIONS(f) MEMPROF_LOADING_FUNCTIONS(f) \
  MEMPROF_ENDING_FUNCTIONS(f) MEMPROF_ASKED_FUNCTIONS(f)

enum class NextFunction : uint32_t {
#define MEMPROF_ENUMERATOR(name) name,
  MEMPROF_NEXT_FUNCTIONS(MEMPROF_ENUMERATOR)
#undef MEMPROF_ENUMERATOR
  kCount
};
// clang-format on
inline constexpr size_t kNextFunctions = static_cast<size_t>(NextFunction::kCount);

// The functions in the global scope at start; nullptr: none, or not searched yet.
extern std::atomic<void*> next_functions[kNextFunctions];

// Searches all of them, once; neither locks nor allocates.
void ResolveNextFunctions();

// For a call that returns to `caller`. nullptr: nobody has the function.
void* FindNextFor(NextFunction which, uintptr_t caller);

// Call it after a dlclose: forgets modules that are gone.
void ForgetClosedCallers();

}  // namespace memprof
