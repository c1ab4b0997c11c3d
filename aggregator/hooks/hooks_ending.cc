// The functions that end the process or its main thread: a program may be asked to wait for a look at
// its heap before (state/exit_look.h). They are jumped to, so that nothing of ours is in the stacks of
// exit handlers.
//
// A signal handler may call any of them, also within an allocator. So none looks for a function.

#include "aggregator/basics/kernel_calls.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/hooks/jump_hook.h"
#include "aggregator/state/exit_look.h"

using namespace memprof;

namespace {

// Stands in for functions that nobody has.
void EndProcess(int status) {
  for (;;) kernel::Call(SYS_exit_group, status);
}
void EndThread(void*) {
  for (;;) kernel::Call(SYS_exit, 0);
}

void* ProcessEnds(NextFunction which) {
  LookBeforeExit();
  auto* next = NextFromStart<void(int)>(which);
  return reinterpret_cast<void*>(next != nullptr ? next : EndProcess);
}

}  // namespace

extern "C" {

MEMPROF_BEFORE_JUMP memprof_before_exit(int) { return ProcessEnds(NextFunction::exit); }
MEMPROF_BEFORE_JUMP memprof_before_quick_exit(int) { return ProcessEnds(NextFunction::quick_exit); }
MEMPROF_BEFORE_JUMP memprof_before__exit(int) { return ProcessEnds(NextFunction::_exit); }
MEMPROF_BEFORE_JUMP memprof_before__Exit(int) { return ProcessEnds(NextFunction::_Exit); }

MEMPROF_BEFORE_JUMP memprof_before_pthread_exit(void*) {
  ThreadEnds();
  auto* next = NextFromStart<void(void*)>(NextFunction::pthread_exit);
  return reinterpret_cast<void*>(next != nullptr ? next : EndThread);
}

}  // extern "C"

MEMPROF_JUMP_HOOK(exit, ".globl", memprof_before_exit);
MEMPROF_JUMP_HOOK(quick_exit, ".globl", memprof_before_quick_exit);
MEMPROF_JUMP_HOOK(_exit, ".globl", memprof_before__exit);
MEMPROF_JUMP_HOOK(_Exit, ".globl", memprof_before__Exit);
MEMPROF_JUMP_HOOK(pthread_exit, ".globl", memprof_before_pthread_exit);
