// A program that another libc may be linked with (musl-gcc): every function that the tracker hooks,
// threads, forks, execs and mappings. It prints deviations from the standards, and then ends with
// 7. With an argument it lives for as many milliseconds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static __thread int of_thread = 3;
static int at_exit;
static int constructed;

#define CHECK(what) \
  if (!(what)) printf("line %d: %s\n", __LINE__, #what)

__attribute__((constructor)) static void construct(void) {
  void* block = malloc(100);
  constructed = block != NULL;
  free(block);
}

static void exits(void) {
  free(malloc(10));
  if (++at_exit == 2) write(1, "end\n", 4);
}
__attribute__((destructor)) static void destruct(void) { exits(); }

static void use(char* block, size_t size, size_t alignment) {
  CHECK(block != NULL && (uintptr_t)block % alignment == 0);
  if (block != NULL) memset(block, 0x5a, size);
}

static void functions_of_malloc(void) {
  char* block = malloc(1000);
  use(block, 1000, 16);
  block = realloc(block, 100000);
  use(block, 100000, 16);
  CHECK(malloc_usable_size(block) >= 100000);
  block = realloc(block, 10);
  CHECK(block[9] == 0x5a);
  free(block);
  block = calloc(100, 10);
  CHECK(block[0] == 0 && block[999] == 0 && memcmp(block, block + 1, 999) == 0);
  free(block);
  block = realloc(NULL, 50);
  use(block, 50, 16);
  free(block);
  free(NULL);
  void* aligned = NULL;
  CHECK(posix_memalign(&aligned, 4096, 5000) == 0);
  use(aligned, 5000, 4096);
  free(aligned);
  CHECK(posix_memalign(&aligned, 3, 10) == EINVAL);
  use(aligned = aligned_alloc(64, 640), 640, 64);
  free(aligned);
  use(aligned = memalign(256, 100), 100, 256);
  free(aligned);
  use(aligned = valloc(100), 100, 4096);
  free(aligned);
  errno = 0;
  volatile size_t most = SIZE_MAX / 2;
  CHECK(malloc(most) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(calloc(most, 4) == NULL && errno == ENOMEM);
  // More than any memory that is set aside for the start.
  static char* blocks[5000];
  for (int i = 0; i < 5000; ++i) use(blocks[i] = malloc((size_t)i + 1), (size_t)i + 1, 16);
  for (int i = 0; i < 5000; ++i) free(blocks[i]);
}

static void* thread(void* argument) {
  CHECK(of_thread == 3);
  of_thread = 4;
  pthread_setname_np(pthread_self(), "worker");
  for (int i = 1; i < 2000; ++i) {
    char* block = malloc((size_t)i);
    memset(block, i, (size_t)i);
    block = realloc(block, (size_t)i * 2);
    free(block);
  }
  return argument;
}

static void threads(void) {
  pthread_t ids[4];
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&ids[i], NULL, thread, &ids[i]) == 0);
  for (int i = 0; i < 4; ++i) {
    void* result = NULL;
    CHECK(pthread_join(ids[i], &result) == 0 && result == &ids[i]);
  }
  CHECK(of_thread == 3);
}

static int status_of(pid_t pid) {
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

static void processes(char* self) {
  pid_t child = fork();
  if (child == 0) {
    for (int i = 1; i < 2000; ++i) free(malloc((size_t)i));
    pthread_t id;
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    _exit(5);
  }
  CHECK(status_of(child) == 5 << 8);
  child = fork();
  if (child == 0) {
    execl(self, self, "executed", (char*)NULL);
    _exit(99);
  }
  CHECK(status_of(child) == 6 << 8);
  child = vfork();
  if (child == 0) {
    execl(self, self, "executed", (char*)NULL);
    _exit(99);
  }
  CHECK(status_of(child) == 6 << 8);
  char* arguments[] = {self, "executed", NULL};
  CHECK(posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0);
  CHECK(status_of(child) == 6 << 8);
  CHECK(system("exit 3") == 3 << 8);
}

static void mappings(void) {
  char* mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);
  mapped[0] = 1;
  CHECK(mprotect(mapped + 4096, 4096, PROT_READ) == 0);
  CHECK(munmap(mapped + 4096, 4096) == 0);
  mapped = mremap(mapped, 4096, 40960, MREMAP_MAYMOVE);
  CHECK(mapped != MAP_FAILED && mapped[0] == 1);
  CHECK(munmap(mapped, 40960) == 0);
  errno = 0;
  CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
  CHECK(sbrk(0) != (void*)-1);
  CHECK(prctl(PR_SET_NAME, "renamed") == 0);
  CHECK(syscall(SYS_getpid) == getpid());
  errno = 0;
  CHECK(syscall(SYS_close, -1) == -1 && errno == EBADF);
}

static void libraries(void) {
  void* program = dlopen(NULL, RTLD_NOW);
  CHECK(program != NULL && dlsym(program, "malloc") != NULL);
  CHECK(dlopen("/nowhere/libnone.so", RTLD_NOW) == NULL && dlerror() != NULL);
  CHECK(dlclose(program) == 0);
}

static void streams(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char* line = NULL;
  size_t capacity = 0;
  int lines = 0;
  while (getline(&line, &capacity, file) > 0) ++lines;
  CHECK(lines > 10);
  free(line);
  fclose(file);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "executed") == 0) {
    free(malloc(100));
    return 6;
  }
  atexit(exits);
  CHECK(constructed == 1);
  functions_of_malloc();
  threads();
  processes(argv[0]);
  mappings();
  libraries();
  streams();
  functions_of_malloc();
  if (argc > 1) usleep((useconds_t)atoi(argv[1]) * 1000);
  return 7;
}
