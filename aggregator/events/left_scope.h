// LeftScope: notices that a signal handler left a hook, or the tracker, by siglongjmp or
// pthread_exit. The thread's scope (state/thread_state.h) then wrongly says that the thread is
// still in the hook. The next hook that is called from above that scope's stack pointer notices it.
//
// Thread safety, failure, errno: as heap_events.h.
#pragma once

#include <cstdint>

#include "aggregator/state/thread_state.h"

namespace memprof {

// Resets the flags and counts a dropped event. Does nothing if the hook runs on another stack, so
// that the scope may still go on. Pre: a scope is set, and a hook is called from `sp`, above it.
void ForgetLeftScope(uintptr_t sp);

// True if the call of a hook from `sp` is within a scope with that flag.
[[gnu::always_inline]] inline bool CalledWithin(uintptr_t flag, uintptr_t sp) {
  const uintptr_t scope = thread_state.scope;
  if ((scope & kScopeFlags) == 0) return false;
  if (__builtin_expect(sp > (scope & ~kScopeFlags), 0)) ForgetLeftScope(sp);
  return (thread_state.scope & flag) != 0;
}

// Completes the changes of the tables that the calling thread had begun when a handler took it out
// of the tracker. `slot` is null if the thread has none.
void MendTables(ThreadSlot* slot);

}  // namespace memprof
