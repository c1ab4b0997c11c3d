// ThreadWord: the word of a thread's own memory that has its Python thread state.
//
// The interpreter keeps a thread's state by pthread_setspecific. glibc stores such values in the
// thread control block, at the same distance from the thread pointer in every thread. So a
// remembered stack is verified by that word, without a call into the interpreter.
//
// Thread safety: any thread. Async-signal-safe.
#pragma once

#include <cstdint>

namespace memprof {

// The address of the calling thread's word, which has this state now; 0: it isn't known.
uintptr_t ThreadWordOf(uintptr_t thread_state);

}  // namespace memprof
