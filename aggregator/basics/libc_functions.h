// LibcFunctions: functions that only libc or the loader can provide, called in their own libraries.
//
// A reference by name is bound to the first definition in the process, and programs and preloads
// export functions with libc's names: send, on_exit, clock_gettime. So the tracker imports no name
// that a program may define (tools/check_preload.sh lists the remaining ones). It makes its system
// calls itself (kernel_calls.h), has its own memcpy (bytes_and_strings.cc), and looks for these
// functions only in libc.so.6 and the loader.
//
// Thread safety: TheLibc() fills the table at its first call, which must happen when the loader's
// list may be read (loaded_symbols.h). Then any thread. Threads that make the first call at once
// all store the same values.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>

namespace memprof {

using FindObject = int (*)(void*, struct dl_find_object*);

// A pointer that several threads may store at once, all of them the same value. Relaxed order is
// enough: TheLibc() orders all stores of the table before its first use in another thread.
template <typename Pointer>
class Resolved {
 public:
  constexpr Resolved() = default;
  void Store(Pointer value) { value_.store(value, std::memory_order_relaxed); }
  Pointer Load() const { return value_.load(std::memory_order_relaxed); }
  operator Pointer() const { return Load(); }

 private:
  std::atomic<Pointer> value_{nullptr};
};

// nullptr: that libc doesn't have it.
struct LibcFunctions {
  Resolved<FindObject> find_object;  // _dl_find_object; since glibc 2.35
  // dl_iterate_phdr
  Resolved<int (*)(int (*)(dl_phdr_info*, size_t, void*), void*)> iterate_objects;
  Resolved<void* (*)(void*, const char*)> dlsym;
  Resolved<char* (*)()> dlerror;
  Resolved<unsigned long (*)(unsigned long)> getauxval;
  Resolved<int (*)(clockid_t, timespec*)> clock_gettime;  // the vdso's, if the kernel has one
  Resolved<int (*)(void (*)(int, void*), void*)> on_exit;
  // what compilers call for the destructors of thread-local variables
  Resolved<int (*)(void (*)(void*), void*, void*)> thread_atexit;
  // the function behind pthread_atfork
  Resolved<int (*)(void (*)(), void (*)(), void (*)(), void*)> register_atfork;
  Resolved<int (*)(pthread_key_t*, void (*)(void*))> key_create;
  Resolved<int (*)(pthread_key_t)> key_delete;
  Resolved<int (*)(pthread_key_t, const void*)> setspecific;
  Resolved<int (*)(ucontext_t*)> getcontext;
  Resolved<void (*)(ucontext_t*, void (*)(), int, ...)> makecontext;
  Resolved<const void*> stack_end;  // __libc_stack_end: the main thread's stack begins there
  Resolved<void*> in_libc;          // some address in libc
};
const LibcFunctions& TheLibc();

// True if the program runs with glibc. A descendant of the profiled program may use musl. It
// inherits LD_PRELOAD, and musl's loader accepts this library, since it imports only names that
// musl has. The tracker then stays off, and each hook passes its call on.
inline bool HasGlibc() { return TheLibc().in_libc != nullptr; }

// pthread_atfork; does nothing if there is none.
void AtFork(void (*before)(), void (*in_parent)(), void (*in_child)());

// At the end of the calling thread, and before the handlers of exit() if it calls that; does nothing
// without such a libc. It allocates a few bytes, which are freed right after the call.
void AtThreadExit(void (*call)(void*));

// Calls iterate_objects; returns 0 if there is none.
int IterateObjects(int (*visit)(dl_phdr_info*, size_t, void*), void* data);

// dlsym with RTLD_NEXT or RTLD_DEFAULT, as if called by this library; the error message of a
// failure is cleared. It takes the loader's lock, and the message is allocated. Use it only if
// nothing else knows the answer.
void* AskLoader(void* handle, const char* name);

// A value that the kernel passed to the program at its start; 0: none.
inline unsigned long AuxiliaryValue(unsigned long type) {
  const auto get = TheLibc().getauxval.Load();
  return get != nullptr ? get(type) : 0;
}

}  // namespace memprof
