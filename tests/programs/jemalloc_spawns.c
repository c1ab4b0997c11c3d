// A program with jemalloc whose child has none, but inherits the preloads. The child works,
// whichever functions it finds.
//
// SITE function=main line=@before peak=2000/1 leaked=2000/1 total=2000/1
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "jemalloc_extensions.h"

extern char** environ;
static void* volatile kept;

int main(int argc, char** argv) {
  kept = mallocx(2000, 0);  // @before
  char path[4096];
  if (strlen(argv[0]) + 20 > sizeof path) return 1;
  strcpy(path, argv[0]);
  char* slash = strrchr(path, '/');
  strcpy(slash != NULL ? slash + 1 : path, "mallocx_if_there");
  char* arguments[] = {path, "use", NULL};
  pid_t pid;
  int status;
  if (posix_spawn(&pid, path, NULL, NULL, arguments, environ) != 0) return 2;
  if (waitpid(pid, &status, 0) != pid || status != 0) return 3;
  return 0;
}
