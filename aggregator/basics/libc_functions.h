// LibcFunctions: functions that only libc or the loader can provide, called in their own libraries.
//
// A reference by name is bound to the first definition in the process, and programs and preloads
// export functions with libc's names: send, on_exit, clock_gettime. So the tracker imports no name
// that a program may define (tools/check_preload.sh lists the remaining ones). It makes its system
// calls itself (kernel_calls.h), has its own memcpy (bytes_and_strings.cc), and looks for these
// functions only in libc.so.6 and the loader.
//
// Thread safety: TheLibc() fills the table at its first call, which must happen when the loader's
// list may be read (loaded_symbols.h). Then any thread.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>

namespace memprof {

using FindObject = int (*)(void*, struct dl_find_object*);

// nullptr: that libc doesn't have it.
struct LibcFunctions {
  FindObject find_object;  // _dl_find_object; since glibc 2.35
  int (*iterate_objects)(int (*)(dl_phdr_info*, size_t, void*), void*);  // dl_iterate_phdr
  void* (*dlsym)(void*, const char*);
  char* (*dlerror)();
  unsigned long (*getauxval)(unsigned long);
  int (*clock_gettime)(clockid_t, timespec*);  // the vdso's, if the kernel has one
  int (*on_exit)(void (*)(int, void*), void*);
  // the function behind pthread_atfork
  int (*register_atfork)(void (*)(), void (*)(), void (*)(), void*);
  int (*key_create)(pthread_key_t*, void (*)(void*));
  int (*key_delete)(pthread_key_t);
  int (*setspecific)(pthread_key_t, const void*);
  int (*getcontext)(ucontext_t*);
  void (*makecontext)(ucontext_t*, void (*)(), int, ...);
  const void* stack_end;  // __libc_stack_end: the main thread's stack begins there
  void* in_libc;          // some address in libc
};
const LibcFunctions& TheLibc();

// True if the program runs with glibc. A descendant of the profiled program may use musl. It
// inherits LD_PRELOAD, and musl's loader accepts this library, since it imports only names that
// musl has. The tracker then stays off, and each hook passes its call on.
inline bool HasGlibc() { return TheLibc().in_libc != nullptr; }

// pthread_atfork; does nothing if there is none.
void AtFork(void (*before)(), void (*in_parent)(), void (*in_child)());

// Calls iterate_objects; returns 0 if there is none.
int IterateObjects(int (*visit)(dl_phdr_info*, size_t, void*), void* data);

// dlsym with RTLD_NEXT or RTLD_DEFAULT, as if called by this library; the error message of a
// failure is cleared. It takes the loader's lock, and the message is allocated. Use it only if
// nothing else knows the answer.
void* AskLoader(void* handle, const char* name);

// A value that the kernel passed to the program at its start; 0: none.
inline unsigned long AuxiliaryValue(unsigned long type) {
  const auto get = TheLibc().getauxval;
  return get != nullptr ? get(type) : 0;
}

}  // namespace memprof
