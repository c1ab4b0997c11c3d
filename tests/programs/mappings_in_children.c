// A forked child's own mappings are in its own capture, from its first event on, which may be one
// of them. Mappings from its parent are not. The parent's capture has nothing of the child's.
//
// MAP function=before line=@before kind=anonymous peak=1048576/1 leaked=1048576/1 total=1048576/1
// MAPPED peak=1048576/1 leaked=1048576/1 total=1048576/1
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMiB = 1 << 20 };

static char* before(void) {
  return mmap(NULL, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // @before
}
static char* kept(void) {
  return mmap(NULL, 2 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static char* gone(void) {
  return mmap(NULL, 3 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void) {
  char* of_parent = before();
  if (of_parent == MAP_FAILED) return 1;
  pid_t pid = fork();
  if (pid == 0) {
    char* mine = kept();  // before anything is allocated
    char* other = gone();
    if (mine == MAP_FAILED || other == MAP_FAILED) _exit(2);
    // Half of it, and all of what the parent had.
    if (munmap(other, 2 * kMiB) != 0 || munmap(of_parent, kMiB) != 0) _exit(3);
    if (munmap(other + 2 * kMiB, kMiB) != 0) _exit(4);
    free(malloc(100));
    _exit(0);
  }
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return 5;
  return status == 0 ? 0 : 6;
}
