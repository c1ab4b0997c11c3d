// Handles the page faults of some of its memory itself, and wants to be told of forks (userfaultfd): a
// process that is made a copy of waits for the thread that reads these events. Prints "ready", and
// ends with 0 at the end of its input. 77: it can't do its part.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void* kept;

static void* read_events(void* fd) {
  struct uffd_msg event;
  while (read((int)(long)fd, &event, sizeof event) > 0) {
    if (event.event == UFFD_EVENT_FORK) close((int)event.arg.fork.ufd);
  }
  return NULL;
}

int main(void) {
  const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {UFFD_API, UFFD_FEATURE_EVENT_FORK, 0};
  if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return 77;
  void* memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct uffdio_register range = {{(unsigned long)memory, 65536}, UFFDIO_REGISTER_MODE_MISSING, 0};
  if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return 77;
  pthread_t thread;
  pthread_create(&thread, NULL, read_events, (void*)(long)fd);
  kept = malloc(1000);
  write(1, "ready\n", 6);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}
