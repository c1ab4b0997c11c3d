/* memprof.h: a program's interface to the heap profiler that watches it.
 *
 *   memprof run ./program            everything below works
 *   ./program                        everything below is a no-op that costs a load and a branch
 *
 * C11 or C++17 with gcc or clang. There is nothing to link (glibc before 2.34: -ldl): the header
 * looks once, by dlsym, for the tracker's table of functions in the process. If there is none, the
 * first call also clears a pending dlerror() message. With MEMPROF_NO_CLIENT defined nothing is
 * looked for, and all functions are empty.
 *
 * C++
 *   memprof::Tracker region("parse");
 *   Parse(text);
 *   if (region.End().peak_growth_bytes > limit) region.Stacks(MEMPROF_BY_PEAK, 5, Print);
 *
 * C
 *   memprof_scope region = memprof_scope_begin("parse", 0);
 *   parse(text);
 *   if (memprof_scope_end(region, &figures) && figures.peak_growth_bytes > limit)
 *     memprof_scope_stacks(region, MEMPROF_BY_PEAK, 5, print, NULL);
 *   memprof_scope_release(region);
 *
 * Thread safety: every function may be called by any thread. If another thread begins, ends or
 * reads a scope or takes a snapshot, a call waits for it, for 0.1 s at most, and then does nothing.
 * A call from a signal handler that interrupted the tracker does nothing. In both cases the result
 * says so: 0, no figures. Threads that allocate never wait. errno is preserved.
 * Cost: begin, end, figures and snapshot look at every place that allocated so far, at some 10 ns
 * each. The program's own malloc and free cost nothing more, except for a few ns while there is a
 * scope with MEMPROF_THREAD.
 * Everything is a no-op in a forked child, and in a program that was executed by another one and
 * isn't followed.
 */
#ifndef MEMPROF_MEMPROF_H_
#define MEMPROF_MEMPROF_H_

#include <stddef.h>
#include <stdint.h>
#ifndef MEMPROF_NO_CLIENT
#include <dlfcn.h>
#endif

#ifdef __cplusplus
#define MEMPROF_INLINE inline __attribute__((visibility("hidden")))
#define MEMPROF_CAST(type, value) static_cast<type>(value)
#define MEMPROF_NULL nullptr
extern "C" {
#else
#define MEMPROF_INLINE static inline
#define MEMPROF_CAST(type, value) ((type)(value))
#define MEMPROF_NULL ((void*)0)
#endif

/* ---- figures ---- */

/* Flags of memprof_scope_begin. */
enum {
  MEMPROF_THREAD = 1 /* also measure the peak of the calling thread's blocks */
};

/* Flags of struct memprof_figures. */
enum {
  /* The figures are estimates by sampling (`run --sample`). */
  MEMPROF_SAMPLED = 1,
  /* Other threads allocated while the scope's begin, its end or a mark between was made: bytes are
   * off by at most `bound_bytes`. Without this flag bound_bytes may still be what threads held back
   * from the process's counter (`run --exact-peak` makes it 0). */
  MEMPROF_INEXACT = 2,
  /* thread_peak_growth_bytes and thread_growth_bytes are known: the scope has MEMPROF_THREAD, and
   * this is the thread that began it. */
  MEMPROF_THREAD_KNOWN = 4,
  /* There was no memory for the scope's rows: leaked_* and the stacks are not known. */
  MEMPROF_NO_STACKS = 8,
  /* The scope has ended: these are its last figures. */
  MEMPROF_ENDED = 16,
  /* The thread_allocat… figures are known: this is the thread that began the scope. */
  MEMPROF_THREAD_ALLOCATIONS_KNOWN = 32,
  /* Counting was stopped (memprof_stop) for some of the scope. */
  MEMPROF_WAS_STOPPED = 64
};

/* The figures since a scope began. Bytes are requested bytes. */
struct memprof_figures {
  uint32_t size;  /* sizeof(struct memprof_figures), by the caller; the header does it */
  uint32_t flags; /* MEMPROF_… */

  /* The whole process. */
  int64_t start_bytes;       /* live when the scope began */
  int64_t now_bytes;         /* live now; for an ended scope, when it ended */
  int64_t peak_bytes;        /* highest live bytes from its begin to now */
  int64_t peak_growth_bytes; /* peak_bytes - start_bytes; never negative */
  int64_t growth_bytes;      /* now_bytes - start_bytes; negative if more was freed */
  int64_t growth_blocks;
  int64_t leaked_bytes;  /* the sum over the stacks that grew: the leak of one stack is */
  int64_t leaked_blocks; /* not hidden by memory that another one gave back */
  uint64_t allocations;  /* made since the begin, freed or not; a realloc is one */
  uint64_t allocated_bytes;

  /* The thread that began the scope. A block belongs to the thread that allocated it. */
  uint64_t thread_allocations;
  uint64_t thread_allocated_bytes;
  int64_t thread_peak_growth_bytes; /* with MEMPROF_THREAD: highest growth of its blocks */
  int64_t thread_growth_bytes;      /* with MEMPROF_THREAD: their growth by now */

  uint64_t bound_bytes; /* every figure of bytes is off by at most this; 0: exact */
};

/* The figures that need no scope. */
struct memprof_usage {
  uint32_t size;               /* sizeof(struct memprof_usage), by the caller; the header does it */
  uint32_t flags;              /* MEMPROF_SAMPLED */
  int64_t process_bytes;       /* live now */
  int64_t process_peak_bytes;  /* highest since the program began */
  int64_t thread_bytes;        /* allocated by this thread less what it freed; negative in one that
                                * frees what others allocated */
  uint64_t thread_allocations; /* of this thread, and of earlier ones whose slot it took */
  uint64_t thread_allocated_bytes;
  uint64_t bound_bytes; /* of process_*: what threads may have held back */
};

/* The order of memprof_scope_stacks, and the meaning of a stack's `bytes` and `blocks`. */
enum memprof_order {
  MEMPROF_BY_PEAK = 0,        /* growth from the scope's begin to its peak; the rows
                               * sum to peak_growth_bytes; negative ones come last */
  MEMPROF_BY_LEAKED = 1,      /* growth from its begin to now; only stacks that grew */
  MEMPROF_BY_ALLOCATIONS = 2, /* number of blocks allocated in it */
  MEMPROF_BY_ALLOCATED = 3,   /* number of bytes */
  MEMPROF_BY_GROWTH = 4       /* growth from its begin to now, the largest change first; negative
                               * for a stack that shrank; the rows sum to growth_bytes */
};

struct memprof_stack {
  uint32_t size; /* sizeof the struct, by the tracker */
  uint32_t frame_count;
  const uintptr_t* frames; /* return addresses, innermost first: the call lies before each */
  int32_t complete;        /* 0: outer frames are not known */
  const char* thread_name; /* of the thread that allocated */
  const char* allocator;   /* "malloc", "new", "pool", … */
  int64_t bytes;
  int64_t blocks;
};

/* Returns 0 to go on. Its argument is valid until it returns. It may allocate and call anything. */
typedef int (*memprof_stack_callback)(const struct memprof_stack* stack, void* context);

typedef uint64_t memprof_scope; /* 0: none */

/* ---- the tracker's table ---- */

/* Exported by the tracker as `memprof_client_v1`. A later tracker of the same name adds at the end:
 * `size` says how far it goes. */
struct memprof_client_table {
  uint32_t version; /* MEMPROF_CLIENT_VERSION */
  uint32_t size;
  int (*counted)(void);
  int (*start)(void);
  int (*stop)(void);
  int (*snapshot)(const char* name);
  int (*usage)(struct memprof_usage* usage);
  memprof_scope (*scope_begin)(const char* name, uint32_t flags);
  int (*scope_figures)(memprof_scope scope, struct memprof_figures* figures);
  int (*scope_end)(memprof_scope scope, struct memprof_figures* figures);
  size_t (*scope_stacks)(memprof_scope scope, int order, size_t most,
                         memprof_stack_callback callback, void* context);
  void (*scope_release)(memprof_scope scope);
  void (*pool_arena)(void* arena);
  void (*pool_alloc)(const void* address, size_t bytes);
  void (*pool_free)(const void* address);
};
#define MEMPROF_CLIENT_VERSION 1u

/* Null: there is no tracker in this process. */
MEMPROF_INLINE const struct memprof_client_table* memprof_client(void) {
#ifdef MEMPROF_NO_CLIENT
  return MEMPROF_NULL;
#else
  static const struct memprof_client_table* found; /* valid once looked is 1 */
  static int looked;
  if (__builtin_expect(!__atomic_load_n(&looked, __ATOMIC_ACQUIRE), 0)) {
    /* A null handle is RTLD_DEFAULT, with or without _GNU_SOURCE. */
    const struct memprof_client_table* table =
        MEMPROF_CAST(const struct memprof_client_table*, dlsym(MEMPROF_NULL, "memprof_client_v1"));
    if (!table) dlerror(); /* it is nobody's error */
    const int fits = table && table->version == MEMPROF_CLIENT_VERSION &&
                     table->size >= sizeof(struct memprof_client_table);
    __atomic_store_n(&found, fits ? table : MEMPROF_NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&found, __ATOMIC_RELAXED);
#endif
}

/* ---- what a program calls ---- */

/* 1: a tracker counts this process's heap (also while stopped). 0: everything here is a no-op. */
MEMPROF_INLINE int memprof_present(void) {
  const struct memprof_client_table* table = memprof_client();
  return table ? table->counted() : 0;
}

/* From stop to start no allocation of any thread is counted, as if those blocks did not exist. A
 * block that was counted before still leaves the figures when it is freed, or when realloc moves or
 * resizes it. Calls nest: as many starts as stops. Counting is on when a program begins; a surplus
 * start does nothing. Returns the number of stops in force. */
MEMPROF_INLINE int memprof_stop(void) {
  const struct memprof_client_table* table = memprof_client();
  return table ? table->stop() : 0;
}
MEMPROF_INLINE int memprof_start(void) {
  const struct memprof_client_table* table = memprof_client();
  return table ? table->start() : 0;
}

/* Keeps what is live now, by place, under a name of at most 63 bytes: reports read it as
 * `FILE@name`. At most 64 are kept; a new one replaces the one of its name. Returns 1, or 0: not
 * kept. */
MEMPROF_INLINE int memprof_snapshot(const char* name) {
  const struct memprof_client_table* table = memprof_client();
  return table ? table->snapshot(name) : 0;
}

/* Returns 1, or 0: nothing is known, and *usage is all zeros. */
MEMPROF_INLINE int memprof_get_usage(struct memprof_usage* usage) {
  const struct memprof_client_table* table = memprof_client();
  struct memprof_usage none = {0, 0, 0, 0, 0, 0, 0, 0};
  *usage = none;
  usage->size = MEMPROF_CAST(uint32_t, sizeof *usage);
  return table ? table->usage(usage) : 0;
}

/* Begins a scope of the whole process. Scopes may nest, overlap, and end in any order and thread;
 * 64 may exist at once. `name` is for readers of the program. Returns 0 if none is available. */
MEMPROF_INLINE memprof_scope memprof_scope_begin(const char* name, uint32_t flags) {
  const struct memprof_client_table* table = memprof_client();
  return table ? table->scope_begin(name, flags) : 0;
}

/* The figures up to now, or up to an ended scope's end. Returns 1, or 0 with *figures all zeros. */
MEMPROF_INLINE int memprof_scope_figures(memprof_scope scope, struct memprof_figures* figures) {
  const struct memprof_client_table* table = scope ? memprof_client() : MEMPROF_NULL;
  struct memprof_figures none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  *figures = none;
  figures->size = MEMPROF_CAST(uint32_t, sizeof *figures);
  return table ? table->scope_figures(scope, figures) : 0;
}

/* Ends the scope: its figures are final. `figures` may be null. Returns as …_figures. */
MEMPROF_INLINE int memprof_scope_end(memprof_scope scope, struct memprof_figures* figures) {
  const struct memprof_client_table* table = scope ? memprof_client() : MEMPROF_NULL;
  struct memprof_figures none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  struct memprof_figures ignored;
  if (!figures) figures = &ignored;
  *figures = none;
  figures->size = MEMPROF_CAST(uint32_t, sizeof *figures);
  return table ? table->scope_end(scope, figures) : 0;
}

/* Calls `callback` for the `most` heaviest stacks of an ended scope, the heaviest first. Returns
 * how many there are in all. */
MEMPROF_INLINE size_t memprof_scope_stacks(memprof_scope scope, enum memprof_order order,
                                           size_t most, memprof_stack_callback callback,
                                           void* context) {
  const struct memprof_client_table* table = scope ? memprof_client() : MEMPROF_NULL;
  return table ? table->scope_stacks(scope, MEMPROF_CAST(int, order), most, callback, context) : 0;
}

/* Forgets the scope (and ends it, if it hasn't). Each scope must be released once. */
MEMPROF_INLINE void memprof_scope_release(memprof_scope scope) {
  const struct memprof_client_table* table = scope ? memprof_client() : MEMPROF_NULL;
  if (table) table->scope_release(scope);
}

/* A pool's own blocks, counted by the stack that allocates them, as the function "pool".
 *
 *   arena = malloc(1 << 20);  memprof_pool_arena(arena);     the pool gets its memory
 *   memprof_pool_alloc(at, bytes);                           … gives out a part of it
 *   memprof_pool_free(at);                                   … takes it back
 *   free(arena);                                             as usual
 *
 * Nothing is counted twice: memprof_pool_arena takes the arena's bytes out of the figures, since
 * the pool's blocks are counted from then on. (A block of 0 bytes stays in the arena's row until
 * it is freed.) An arena from mmap, or a static one, was never counted and needs no call.
 * A block's address is a multiple of 8 (others are counted as dropped events). A block that begins
 * where another one is marked replaces it. Freeing an arena frees none of its blocks: a pool that
 * drops all at once marks each of them freed, or marks none. */
MEMPROF_INLINE void memprof_pool_arena(void* arena) {
  const struct memprof_client_table* table = memprof_client();
  if (table) table->pool_arena(arena);
}
MEMPROF_INLINE void memprof_pool_alloc(const void* address, size_t bytes) {
  const struct memprof_client_table* table = memprof_client();
  if (table) table->pool_alloc(address, bytes);
}
MEMPROF_INLINE void memprof_pool_free(const void* address) {
  const struct memprof_client_table* table = memprof_client();
  if (table) table->pool_free(address);
}

#ifdef __cplusplus
} /* extern "C" */

namespace memprof {

using Figures = memprof_figures;
using Stack = memprof_stack;

/* A scope that ends with its C++ scope, if not before. */
class Tracker {
 public:
  explicit Tracker(const char* name, uint32_t flags = 0)
      : scope_(memprof_scope_begin(name, flags)) {}
  ~Tracker() { memprof_scope_release(scope_); }
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;

  /* False: there is no tracker, or no more room for scopes; all figures are 0. */
  explicit operator bool() const { return scope_ != 0; }

  Figures Now() const {
    Figures figures;
    memprof_scope_figures(scope_, &figures);
    return figures;
  }
  Figures End() {
    Figures figures;
    memprof_scope_end(scope_, &figures);
    return figures;
  }

  /* `each`: void(const memprof::Stack&). After End(). Returns how many stacks there are in all. */
  template <typename Each>
  size_t Stacks(memprof_order order, size_t most, Each each) const {
    return memprof_scope_stacks(
        scope_, order, most,
        [](const memprof_stack* stack, void* context) {
          (*static_cast<Each*>(context))(*stack);
          return 0;
        },
        &each);
  }

 private:
  memprof_scope scope_;
};

} /* namespace memprof */
#endif

#endif /* MEMPROF_MEMPROF_H_ */
