// Prints the API's answers, for ../e2e/api_test.py.
//
// usage: api_figures scopes|thread|stop|fork|signal|usage|snapshots|pools|ends
#include <memprof/memprof.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* volatile blocks[64];
static void make(int at, size_t bytes) { blocks[at] = malloc(bytes); }
static void drop(int at) {
  free(blocks[at]);
  blocks[at] = NULL;
}

static void print(const char* name, memprof_scope scope, int end) {
  struct memprof_figures f;
  int known = end ? memprof_scope_end(scope, &f) : memprof_scope_figures(scope, &f);
  printf("%s known=%d start=%lld now=%lld peak=%lld peak_growth=%lld growth=%lld/%lld leaked=%lld/%lld "
         "allocated=%llu/%llu thread_allocated=%llu/%llu thread_peak=%lld thread_growth=%lld bound=%llu "
         "sampled=%d inexact=%d ended=%d thread_known=%d stopped=%d\n",
         name, known, (long long)f.start_bytes, (long long)f.now_bytes, (long long)f.peak_bytes,
         (long long)f.peak_growth_bytes, (long long)f.growth_bytes, (long long)f.growth_blocks,
         (long long)f.leaked_bytes, (long long)f.leaked_blocks, (unsigned long long)f.allocated_bytes,
         (unsigned long long)f.allocations, (unsigned long long)f.thread_allocated_bytes,
         (unsigned long long)f.thread_allocations, (long long)f.thread_peak_growth_bytes,
         (long long)f.thread_growth_bytes, (unsigned long long)f.bound_bytes,
         (f.flags & MEMPROF_SAMPLED) != 0, (f.flags & MEMPROF_INEXACT) != 0, (f.flags & MEMPROF_ENDED) != 0,
         (f.flags & MEMPROF_THREAD_KNOWN) != 0, (f.flags & MEMPROF_WAS_STOPPED) != 0);
}

static int print_stack(const struct memprof_stack* stack, void* order) {
  free(malloc(5));  // a callback may allocate
  printf("%s %lld/%lld by %s on %s, %s\n", (const char*)order, (long long)stack->bytes,
         (long long)stack->blocks, stack->allocator, stack->thread_name,
         stack->frame_count > 2 && stack->complete ? "a stack" : "no stack");
  return 0;
}

static void scopes(void) {
  make(0, 500);
  memprof_scope outer = memprof_scope_begin("outer", 0);
  make(1, 300);
  make(2, 200);
  drop(1);
  memprof_scope inner = memprof_scope_begin("inner", 0);
  make(3, 1000);
  drop(3);
  make(4, 0);
  print("inner", inner, 0);
  print("inner", inner, 1);
  make(5, 77);
  print("inner", inner, 1);  // ended: as before
  drop(0);
  print("outer", outer, 1);
  printf("%zu\n", memprof_scope_stacks(outer, MEMPROF_BY_PEAK, 9, print_stack, "peak"));
  printf("%zu\n", memprof_scope_stacks(outer, MEMPROF_BY_LEAKED, 1, print_stack, "leaked"));
  printf("%zu\n", memprof_scope_stacks(outer, MEMPROF_BY_ALLOCATIONS, 9, print_stack, "allocations"));
  printf("%zu\n", memprof_scope_stacks(outer, MEMPROF_BY_ALLOCATED, 2, print_stack, "allocated"));
  memprof_scope_release(inner);
  memprof_scope_release(outer);
  print("released", outer, 0);
  // Eight deep and more: the outermost has the peak of the innermost.
  memprof_scope deep[12];
  for (int i = 0; i < 12; ++i) deep[i] = memprof_scope_begin("deep", 0);
  make(6, 4000);
  drop(6);
  for (int i = 11; i >= 0; --i) {
    struct memprof_figures f;
    memprof_scope_end(deep[i], &f);
    memprof_scope_release(deep[i]);
    printf("deep %d peak_growth=%lld\n", i, (long long)f.peak_growth_bytes);
  }
  int more = 0;
  for (int i = 0; i < 100; ++i) more += memprof_scope_begin("many", 0) != 0;
  printf("scopes at once %d\n", more);
}

// The other thread does what it is told, one step at a time.
static pthread_barrier_t barrier;
static void* other(void* unused) {
  for (int step = 0; step < 3; ++step) {
    pthread_barrier_wait(&barrier);
    if (step == 0) make(10, 10000);
    if (step == 1) drop(11);  // what main allocated
    if (step == 2) drop(10);
    pthread_barrier_wait(&barrier);
  }
  return unused;
}
static void step(void) {
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
}
static void thread(void) {
  pthread_t id;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_create(&id, NULL, other, NULL);
  memprof_scope plain = memprof_scope_begin("plain", 0);
  memprof_scope watched = memprof_scope_begin("watched", MEMPROF_THREAD);
  make(11, 700);
  step();  // 10,000 of another thread
  make(12, 200);
  memprof_scope later = memprof_scope_begin("later", MEMPROF_THREAD);
  step();  // frees the 700
  make(13, 50);
  print("later", later, 1);
  blocks[12] = realloc(blocks[12], 250);
  step();  // frees the 10,000
  print("watched", watched, 1);
  print("plain", plain, 1);
  memprof_scope_release(plain);
  memprof_scope_release(watched);
  memprof_scope_release(later);
  pthread_join(id, NULL);
}

static void stop(void) {
  make(0, 100);
  make(1, 200);
  make(2, 300);
  memprof_scope scope = memprof_scope_begin("stopped", 0);
  int first = memprof_stop(), second = memprof_stop(), third = memprof_start();
  printf("stops %d %d %d\n", first, second, third);
  make(3, 5000);  // not counted
  drop(0);        // still leaves
  blocks[1] = realloc(blocks[1], 900);
  print("while", scope, 0);
  first = memprof_start(), second = memprof_start();
  printf("starts %d %d\n", first, second);
  drop(3);  // never counted
  drop(1);
  make(4, 40);
  print("after", scope, 1);
}

static void forks(void) {
  make(0, 100);
  memprof_scope scope = memprof_scope_begin("fork", MEMPROF_THREAD);
  pid_t child = fork();
  if (child == 0) {
    make(1, 12345);
    struct memprof_figures f;
    struct memprof_usage u;
    int sum = memprof_present() + memprof_scope_end(scope, &f) + memprof_snapshot("child") +
              memprof_get_usage(&u) + (memprof_scope_begin("child", MEMPROF_THREAD) != 0) + memprof_stop() +
              memprof_start();
    memprof_scope_release(scope);
    memprof_pool_alloc(blocks[0], 8);
    memprof_pool_free(blocks[0]);
    _exit(sum);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
  make(2, 20);
  print("fork", scope, 1);
}

static void on_signal(int number) {
  (void)number;
  memprof_scope scope = memprof_scope_begin("handler", MEMPROF_THREAD);
  struct memprof_figures f;
  memprof_scope_end(scope, &f);
  memprof_scope_release(scope);
  memprof_snapshot("handler");
}
// A timer's signals hit the allocator, the tracker and marks alike.
static void signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  memprof_present();
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec every = {{0, 50000}, {0, 50000}};
  timer_settime(timer, 0, &every, NULL);
  for (int i = 0; i < 20000; ++i) {
    memprof_scope scope = memprof_scope_begin("main", 0);
    make(i % 60, (size_t)(i % 100));
    drop(i % 60);
    memprof_scope_release(scope);
  }
  struct itimerspec never = {{0, 0}, {0, 0}};
  timer_settime(timer, 0, &never, NULL);
  memprof_scope scope = memprof_scope_begin("after", 0);
  make(0, 123);
  print("after", scope, 1);
}

static void usage(void) {
  struct memprof_usage before, after;
  memprof_get_usage(&before);
  make(0, 1000);
  make(1, 500);
  drop(0);
  memprof_scope scope = memprof_scope_begin("a mark", 0);
  memprof_scope_release(scope);
  errno = 99;
  int known = memprof_get_usage(&after);
  printf("known=%d process=%lld peak=%lld thread=%lld allocations=%llu bytes=%llu errno=%d\n", known,
         (long long)(after.process_bytes - before.process_bytes),
         (long long)(after.process_peak_bytes - before.process_bytes),
         (long long)(after.thread_bytes - before.thread_bytes),
         (unsigned long long)(after.thread_allocations - before.thread_allocations),
         (unsigned long long)(after.thread_allocated_bytes - before.thread_allocated_bytes), errno);
}

static void snapshots(void) {
  make(0, 1000);
  printf("%d", memprof_snapshot("first"));
  make(1, 50);
  printf("%d", memprof_snapshot("again"));
  drop(0);
  printf("%d", memprof_snapshot("again"));
  drop(1);
  printf("%d\n", memprof_snapshot("empty"));
}

static volatile long marks;
static void end_thread(int number) {
  (void)number;
  pthread_exit(NULL);
}
static void* make_marks(void* unused) {
  for (;;) {
    memprof_scope scope = memprof_scope_begin("ends", 0);
    memprof_scope_end(scope, NULL);
    memprof_scope_release(scope);
    ++marks;
  }
  return unused;
}
// Threads that end inside a mark, nearly always.
static void ends(void) {
  int refused = 0;
  signal(SIGUSR1, end_thread);
  for (int i = 0; i < 60; ++i) {
    pthread_t id;
    const long before = marks;
    pthread_create(&id, NULL, make_marks, NULL);
    while (marks < before + 20 + i % 7) {
    }
    pthread_kill(id, SIGUSR1);
    pthread_join(id, NULL);
    memprof_scope scope = memprof_scope_begin("main", 0);
    refused += scope == 0;
    memprof_scope_release(scope);
  }
  printf("refused=%d\n", refused);
}

// Blocks of a pool, of which some are freed while counting is stopped.
static void pools(void) {
  static _Alignas(8) char memory[20000 * 64];
  struct memprof_usage before, full, after;
  memprof_get_usage(&before);
  void* arena = malloc(100000);
  memprof_get_usage(&full);
  printf("arena=%d ", full.process_bytes > before.process_bytes);
  for (int i = 0; i < 20000; ++i) memprof_pool_alloc(memory + i * 64, 60);
  memprof_get_usage(&full);
  for (int i = 0; i < 5000; ++i) memprof_pool_free(memory + i * 64);
  memprof_stop();
  memprof_pool_arena(arena);
  for (int i = 5000; i < 15000; ++i) memprof_pool_free(memory + i * 64);
  memprof_start();
  for (int i = 15000; i < 20000; ++i) memprof_pool_free(memory + i * 64);
  memprof_get_usage(&after);
  printf("grew=%d left=%lld\n", full.process_bytes > before.process_bytes + 600000,
         (long long)(after.process_bytes - before.process_bytes));
  free(arena);
}

int main(int count, char** arguments) {
  static char buffer[4096];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  const char* what = count > 1 ? arguments[1] : "";
  if (!strcmp(what, "scopes")) scopes();
  if (!strcmp(what, "thread")) thread();
  if (!strcmp(what, "stop")) stop();
  if (!strcmp(what, "fork")) forks();
  if (!strcmp(what, "signal")) signals();
  if (!strcmp(what, "usage")) usage();
  if (!strcmp(what, "snapshots")) snapshots();
  if (!strcmp(what, "pools")) pools();
  if (!strcmp(what, "ends")) ends();
  return 0;
}
