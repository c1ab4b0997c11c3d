// vfork, posix_spawn, system and popen: the child runs in the parent's memory for a moment. The
// parent's figures are its own.
//
// SITE function=main line=@before peak=2000/1 leaked=2000/1 total=2000/1
// SITE function=main line=@after  peak=300000/1 leaked=300000/1 total=300000/1
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static void* volatile kept[2];

int main(void) {
  char* true_arguments[] = {"true", NULL};
  kept[0] = malloc(2000);  // @before
  for (int i = 0; i < 5; ++i) {
    pid_t pid = vfork();
    if (pid < 0) return 1;
    if (pid == 0) {
      execve("/bin/true", true_arguments, environ);
      _exit(99);
    }
    int status = 1;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 2;
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, true_arguments, environ) != 0) return 3;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 4;
    if (WEXITSTATUS(system("exit 7")) != 7) return 5;
  }
  FILE* pipe = popen("echo hello", "r");
  char line[16] = "";
  if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL) return 6;
  if (pclose(pipe) != 0 || strcmp(line, "hello\n") != 0) return 7;
  kept[1] = malloc(300000);  // @after
  return 0;
}
