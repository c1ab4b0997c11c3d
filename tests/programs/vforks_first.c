// A child by vfork, which shares its parent's memory, makes the process's first allocation. What main
// leaks afterwards is main's (../e2e/running_threads_test.py).
//
// CASE
// SITE function=main line=@child peak=0/0 leaked=0/0 total=7/1
// SITE function=main line=@leak peak=1000/1 leaked=1000/1 total=1000/1
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  const pid_t child = vfork();
  if (child == 0) {
    void* volatile block = malloc(7);  // @child
    free(block);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  void* volatile leaked = malloc(1000);  // @leak
  (void)leaked;
  return 0;
}
