// Exports functions and a variable with names of libc, as a program may that uses none of libc's,
// and counts their callers: there are none. Allocates in two threads and a forked child.
//
// With an argument it goes on until its input ends, so that it can be attached to.
//
// No header is included: each would declare some of the names.
#define NULL ((void*)0)
extern int printf(const char* format, ...);
extern int puts(const char* text);
extern int fflush(void* file);
extern int getchar(void);
extern void* malloc(unsigned long size);
extern void* calloc(unsigned long count, unsigned long size);
extern void* realloc(void* block, unsigned long size);
extern void free(void* block);
extern int fork(void);
extern int wait(int* status);
extern int pthread_create(unsigned long* id, const void* how, void* (*body)(void*), void* with);
extern int pthread_join(unsigned long id, void** result);
extern void exit(int status);

// clang-format off
#define NAMES(f)                                                                                  \
  f(accept) f(bind) f(connect) f(listen) f(recv) f(recvfrom) f(recvmsg) f(send) f(sendmsg)        \
  f(sendto) f(setsockopt) f(shutdown) f(socket) f(socketpair)                                     \
  f(access) f(close) f(creat) f(dup) f(dup2) f(fallocate) f(fcntl) f(fstat) f(fstatat) f(fstatfs) \
  f(fsync) f(ftruncate) f(getcwd) f(getdents64) f(ioctl) f(lseek) f(lstat) f(mkdir) f(open)       \
  f(open64) f(openat) f(pipe) f(poll) f(posix_fallocate) f(pread) f(pwrite) f(pwrite64) f(read)   \
  f(readlink) f(readlinkat) f(rename) f(select) f(stat) f(statfs) f(unlink) f(unlinkat) f(write)  \
  f(madvise) f(memfd_create) f(mmap) f(mmap64) f(mprotect) f(mremap) f(munmap)                    \
  f(bcmp) f(memchr) f(memcmp) f(memcpy) f(memmove) f(mempcpy) f(memset) f(strchr) f(strcmp)       \
  f(strcpy) f(strlen) f(strncmp) f(strncpy) f(strnlen) f(strrchr) f(strstr) f(strtol) f(strtoul)  \
  f(abort) f(clock_gettime) f(getauxval) f(getenv) f(getpagesize) f(getpid) f(getppid)            \
  f(getrandom) f(getrlimit) f(gettid) f(kill) f(nanosleep) f(on_exit) f(prctl) f(prlimit)         \
  f(process_vm_readv) f(process_vm_writev) f(raise) f(sched_yield) f(secure_getenv) f(sysconf)    \
  f(syscall) f(time) f(usleep)                                                                    \
  f(sigaction) f(sigaltstack) f(sigprocmask) f(sigaddset) f(sigfillset)                           \
  f(dl_iterate_phdr) f(dladdr) f(dlclose) f(dlerror) f(dlinfo) f(dlopen) f(dlsym) f(dlvsym)       \
  f(_dl_find_object) f(getcontext) f(makecontext) f(setcontext) f(swapcontext)                    \
  f(pthread_atfork) f(pthread_equal) f(pthread_getspecific) f(pthread_key_create)                 \
  f(pthread_key_delete) f(pthread_mutex_lock) f(pthread_mutex_unlock) f(pthread_once)             \
  f(pthread_self) f(pthread_setcancelstate) f(pthread_setspecific) f(pthread_sigmask)
// clang-format on

static const char* called[1000];
static int calls;

static long note(const char* name) {
  if (calls < 1000) called[calls] = name;
  ++calls;
  return 0;
}

#define DEFINE(name) \
  long name(void) { return note(#name); }
NAMES(DEFINE)

long environ = 1;

static void* allocates(void* block) {
  for (int i = 0; i < 100; ++i) {
    block = realloc(block, 100 + i);
    free(calloc(i + 1, 10));
  }
  free(block);
  return malloc(55);
}

static void say(const char* who) {
  printf("%s: %d calls\n", who, calls);
  for (int i = 0; i < calls && i < 1000; ++i) printf("  %s\n", called[i]);
  fflush(NULL);
}

int main(int argc, char** argv) {
  unsigned long id;
  void* block = NULL;
  if (argc > 1) {
    puts("ready");
    fflush(NULL);
    while (getchar() != -1) {
      free(malloc(1000));
      puts("allocated");
      fflush(NULL);
    }
  }
  pthread_create(&id, NULL, allocates, malloc(10));
  pthread_join(id, &block);
  free(block);
  fflush(NULL);
  if (fork() == 0) {
    free(allocates(NULL));
    say("child");
    exit(0);
  }
  wait(NULL);
  say("program");
  return calls != 0;
}
