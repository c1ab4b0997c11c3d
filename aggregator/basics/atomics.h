// Read-modify-write without a locked bus cycle while the process has one thread.
//
// A locked instruction costs about 20 cycles and, worse, no later load begins before it is done.
// With one thread, only a signal handler may come between a load and its store, and handlers come
// between instructions. So one unlocked cmpxchg is enough. glibc says whether there is one thread
// (__libc_single_threaded). pthread_create ends that state before the second thread runs, and
// synchronises with it.
//
// Thread safety: any thread, also a signal handler.
// Memory order: acquire and release, as with the locked instruction; with one thread program order
// is enough. Limit: glibc doesn't know a thread made by a raw clone(); its own malloc isn't safe
// then.
#pragma once

#include <sys/single_threaded.h>

#pragma weak __libc_single_threaded  // musl has none (libc_functions.h)

#include <atomic>
#include <cstdint>

namespace memprof {

inline bool OneThread() {
#ifdef __SANITIZE_THREAD__
  return false;  // the sanitizer doesn't see what assembly does
#else
  return __libc_single_threaded != 0;
#endif
}

// For a word that only this thread and its signal handlers change.
[[gnu::always_inline]] inline bool CompareExchangeAlone(uint64_t& word, uint64_t& expected,
                                                        uint64_t desired) {
  bool done;
  __asm__ __volatile__("cmpxchgq %3, %1"
                       : "=@ccz"(done), "+m"(word), "+a"(expected)
                       : "r"(desired)
                       : "memory");
  return done;
}

// As std::atomic's compare_exchange_strong with acquire and release.
[[gnu::always_inline]] inline bool CompareExchange(std::atomic<uint64_t>& word, uint64_t& expected,
                                                   uint64_t desired) {
  if (__builtin_expect(OneThread(), 1)) {
    return CompareExchangeAlone(reinterpret_cast<uint64_t&>(word), expected, desired);
  }
  return word.compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                      std::memory_order_acquire);
}

}  // namespace memprof
