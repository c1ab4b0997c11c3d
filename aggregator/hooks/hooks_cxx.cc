// The C++ allocation operators: 8 of new, 12 of delete. Some allocators bring their own, which
// never call malloc through the dynamic linker, so the C hooks alone would not see them.
//
// Declared by their mangled names, so that nothing of libstdc++ is needed.
//
// An exception of new passes through our frame. There is no landing pad: the frame names a
// personality routine that clears the thread's kInAllocator while the exception passes (ABI:
// Itanium C++ ABI, "Exception Handling", 2.5.2).

#include <atomic>

#include "aggregator/hooks/hook.h"

using namespace memprof;

extern "C" {

// Called by the unwinder, in both phases, when an exception passes through an operator new.
__attribute__((visibility("hidden"), used)) int memprof_new_personality(int, int actions, uint64_t,
                                                                        void*, void*) {
  constexpr int kCleanupPhase = 2;    // _UA_CLEANUP_PHASE
  constexpr int kContinueUnwind = 8;  // _URC_CONTINUE_UNWIND
  if ((actions & kCleanupPhase) != 0) thread_state.scope &= ~kInAllocator;
  return kContinueUnwind;
}

// 0x1b: DW_EH_PE_pcrel | DW_EH_PE_sdata4.
#define MEMPROF_PASS_EXCEPTIONS() __asm__ volatile(".cfi_personality 0x1b, memprof_new_personality")

// A program that uses these operators has an object that defines them. The fallback to malloc is
// for a program that was linked against none and never calls them.
#define MEMPROF_NEW(symbol, kind, parameters, arguments, size, alignment, fallback)          \
  MEMPROF_HOOK void* symbol parameters {                                                     \
    MEMPROF_PASS_EXCEPTIONS();                                                               \
    const Caller caller = {MEMPROF_CALLER(), AllocatorKind::kind};                           \
    if (!RealReady()) return ArenaAllocate(size, alignment);                                 \
    auto* next = Next<void * parameters>(NextFunction::symbol, caller.registers.pc);         \
    return Allocate(size, alignment, caller,                                                 \
                    [=]() -> void* { return next != nullptr ? next arguments : fallback; }); \
  }

#define MEMPROF_DELETE(symbol, parameters, arguments)                                         \
  MEMPROF_HOOK void symbol parameters {                                                       \
    if (!RealReady()) return;                                                                 \
    auto* next = Next<void parameters>(NextFunction::symbol, MEMPROF_RETURN());               \
    ReleaseByDelete(address, [=] { next != nullptr ? next arguments : real.free(address); }); \
  }

// operator new and new[]: (size), nothrow, aligned, aligned nothrow.
MEMPROF_NEW(_Znwm, kNew, (size_t size), (size), size, 0, real.malloc(size))
MEMPROF_NEW(_Znam, kNewArray, (size_t size), (size), size, 0, real.malloc(size))
MEMPROF_NEW(_ZnwmRKSt9nothrow_t, kNew, (size_t size, const void* nothrow), (size, nothrow), size, 0,
            real.malloc(size))
MEMPROF_NEW(_ZnamRKSt9nothrow_t, kNewArray, (size_t size, const void* nothrow), (size, nothrow),
            size, 0, real.malloc(size))
MEMPROF_NEW(_ZnwmSt11align_val_t, kNew, (size_t size, size_t alignment), (size, alignment), size,
            alignment, real.memalign(alignment, size))
MEMPROF_NEW(_ZnamSt11align_val_t, kNewArray, (size_t size, size_t alignment), (size, alignment),
            size, alignment, real.memalign(alignment, size))
MEMPROF_NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, kNew,
            (size_t size, size_t alignment, const void* nothrow), (size, alignment, nothrow), size,
            alignment, real.memalign(alignment, size))
MEMPROF_NEW(_ZnamSt11align_val_tRKSt9nothrow_t, kNewArray,
            (size_t size, size_t alignment, const void* nothrow), (size, alignment, nothrow), size,
            alignment, real.memalign(alignment, size))

// operator delete and delete[]: plain, nothrow, sized, aligned, aligned nothrow, sized aligned.
MEMPROF_DELETE(_ZdlPv, (void* address), (address))
MEMPROF_DELETE(_ZdaPv, (void* address), (address))
MEMPROF_DELETE(_ZdlPvRKSt9nothrow_t, (void* address, const void* nothrow), (address, nothrow))
MEMPROF_DELETE(_ZdaPvRKSt9nothrow_t, (void* address, const void* nothrow), (address, nothrow))
MEMPROF_DELETE(_ZdlPvm, (void* address, size_t size), (address, size))
MEMPROF_DELETE(_ZdaPvm, (void* address, size_t size), (address, size))
MEMPROF_DELETE(_ZdlPvSt11align_val_t, (void* address, size_t alignment), (address, alignment))
MEMPROF_DELETE(_ZdaPvSt11align_val_t, (void* address, size_t alignment), (address, alignment))
MEMPROF_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t,
               (void* address, size_t alignment, const void* nothrow),
               (address, alignment, nothrow))
MEMPROF_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t,
               (void* address, size_t alignment, const void* nothrow),
               (address, alignment, nothrow))
MEMPROF_DELETE(_ZdlPvmSt11align_val_t, (void* address, size_t size, size_t alignment),
               (address, size, alignment))
MEMPROF_DELETE(_ZdaPvmSt11align_val_t, (void* address, size_t size, size_t alignment),
               (address, size, alignment))

}  // extern "C"
