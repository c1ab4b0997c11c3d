// libunwind, opened at run time, for frames whose CFI is well-formed but beyond our interpreter.
//
// It is never linked: Debian's libunwind.so.8 exports _Unwind_*, and as a NEEDED of a preloaded
// library it would take over the exceptions of C programs. RTLD_LOCAL keeps its symbols to us.
// Its caching is switched off: with caches it holds a lock across dl_iterate_phdr, which deadlocks
// with a thread in dlopen.
//
// Thread safety: after LoadUnwinderFallback, any thread; no lock of ours is held. libunwind's own
// walk takes the loader's lock for the moment of dl_iterate_phdr. Needs about 8 KiB of stack.
// Failure: false; the stack is then incomplete.
#pragma once

#include <cstdint>

namespace memprof {

struct FallbackFrame {
  uintptr_t pc;  // as StackCapture's invariant 3
  uintptr_t sp;
  uintptr_t rbp;
};

// Whether libunwind was loaded.
bool HasLibunwind();

// Steps from the frame at (pc, sp), which is one of the callers of this call, to its caller.
// `outermost` is set, and false returned, where libunwind says that there is none.
bool StepByLibunwind(uintptr_t pc, uintptr_t sp, FallbackFrame& caller, bool& outermost);

}  // namespace memprof
