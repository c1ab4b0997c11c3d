// A signal handler maps memory while the program is in malloc and free most of the time: the mappings
// are the program's. With another allocator than glibc's a handler within its malloc can't be told
// from the allocator itself.
//
// CASE with=glibc
// SITE function=main line=@block peak=300000/1 leaked=0/0 total=?
// MAP function=on_alarm line=@map kind=anonymous peak=4096000/1000 leaked=4096000/1000 total=4096000/1000
// MAPPED peak=4096000/1000 leaked=4096000/1000 total=4096000/1000
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>

static volatile int mapped;

static void on_alarm(int number) {
  (void)number;
  if (mapped == 1000) return;
  if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {  // @map
    abort();
  }
  ++mapped;
}

int main(void) {
  signal(SIGALRM, on_alarm);
  const struct itimerval often = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (mapped < 1000) {
    void* volatile block = malloc(300000);  // @block
    free(block);
  }
  return 0;
}
