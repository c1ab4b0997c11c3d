// Threads that come after PR_SET_NO_NEW_PRIVS, and after two calls that only ask whether there are
// filters of system calls: nothing is filtered, so their names are known.
//
// SITE function=leak line=@leak thread=no_new_privileg peak=10/1 leaked=10/1 total=10/1
// SITE function=leak line=@leak thread=worker          peak=20/1 leaked=20/1 total=20/1
// SITE function=main line=@top peak=90000/1 leaked=90000/1 total=90000/1
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void* leak(size_t n) {
  return malloc(n);  // @leak
}
static void* worker(void* unused) {
  pthread_setname_np(pthread_self(), "worker");
  leak(20);
  return unused;
}

static void* volatile kept;

int main(void) {
  leak(10);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 77;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0) return 1;
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) == 0) return 1;
  pthread_t thread;
  if (pthread_create(&thread, NULL, worker, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  kept = malloc(90000);  // @top
  return 0;
}
