// Children that allocate, free what they inherited, and end in every way. The parent's figures
// are its own: what a child does with its copies changes nothing.
//
// SITE function=main  line=@inherited peak=3000/3 leaked=1000/1 total=3000/3
// SITE function=main  line=@after     peak=0/0    leaked=40/1   total=40/1
// WHOLE peak=3000/3 leaked=1040/2 total=3040/4
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* blocks[3];
static void* volatile kept;

static void child(int way) {
  for (int i = 0; i < 1000; ++i) free(malloc(5000));
  free(blocks[0]);
  blocks[1] = realloc(blocks[1], 100000);
  memset(blocks[1], 1, 100000);
  kept = malloc(777777);
  if (way == 0) _exit(10);
  if (way == 1) exit(11);
  if (way == 2) abort();
  if (fork() == 0) {  // a grandchild
    free(malloc(99));
    _exit(0);
  }
  wait(NULL);
  _exit(13);
}

int main(void) {
  for (int i = 0; i < 3; ++i) blocks[i] = malloc(1000);  // @inherited
  for (int way = 0; way < 4; ++way) {
    pid_t pid = fork();
    if (pid < 0) return 1;
    if (pid == 0) child(way);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return 2;
    if (way == 2 ? !WIFSIGNALED(status) : WEXITSTATUS(status) != 10 + way) return 3;
  }
  free(blocks[0]);
  free(blocks[1]);
  kept = malloc(40);  // @after
  return 0;
}
