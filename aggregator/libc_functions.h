// LibcFunctions: what only libc or the loader can do, called in their own libraries.
//
// A reference by name is bound to the first definition in the process, and programs and preloads
// export functions by names of libc's: send, on_exit, clock_gettime. So the tracker imports nothing
// that a program may define (tools/check_preload.sh has the list of what is left). It makes its
// system calls itself (kernel_calls.h), brings its own memcpy (bytes_and_strings.cc), and looks for
// these in libc.so.6 and the loader alone.
//
// Thread safety: TheLibc() fills the table at its first call, which is to be at a moment when the
// loader's list may be read (loaded_symbols.h). Then any thread.
#pragma once

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>

namespace memprof {

using FindObject = int (*)(void*, struct dl_find_object*);

// nullptr: that libc has none.
struct LibcFunctions {
  FindObject find_object;  // _dl_find_object; since glibc 2.35
  int (*iterate_objects)(int (*)(dl_phdr_info*, size_t, void*), void*);  // dl_iterate_phdr
  void* (*dlsym)(void*, const char*);
  char* (*dlerror)();
  unsigned long (*getauxval)(unsigned long);
  int (*clock_gettime)(clockid_t, timespec*);  // the vdso's, where the kernel has one
  int (*on_exit)(void (*)(int, void*), void*);
  int (*register_atfork)(void (*)(), void (*)(), void (*)(), void*);  // behind pthread_atfork
  int (*key_create)(pthread_key_t*, void (*)(void*));
  int (*key_delete)(pthread_key_t);
  int (*setspecific)(pthread_key_t, const void*);
  int (*getcontext)(ucontext_t*);
  void (*makecontext)(ucontext_t*, void (*)(), int, ...);
  const void* stack_end;  // __libc_stack_end: where the main thread's stack begins
  void* in_libc;          // any address of it
};
const LibcFunctions& TheLibc();

// Whether the program runs with glibc. A descendant of the profiled program may be one of musl's:
// it inherits LD_PRELOAD, and musl's loader takes this library, since it needs nothing by name that
// musl lacks. Then the tracker stays off, and each hook passes its call on.
inline bool HasGlibc() { return TheLibc().in_libc != nullptr; }

// pthread_atfork; nothing where there is none.
void AtFork(void (*before)(), void (*in_parent)(), void (*in_child)());

// Calls iterate_objects; 0 where there is none.
int IterateObjects(int (*visit)(dl_phdr_info*, size_t, void*), void* data);

// dlsym with RTLD_NEXT or RTLD_DEFAULT, as called by this library; the message of one in vain is
// taken back. It takes the loader's lock, and the message is allocated: only where it is all that
// knows the answer.
void* AskLoader(void* handle, const char* name);

// What the kernel gave the program at its start; 0: nothing.
inline unsigned long AuxiliaryValue(unsigned long type) {
  const auto get = TheLibc().getauxval;
  return get != nullptr ? get(type) : 0;
}

}  // namespace memprof
