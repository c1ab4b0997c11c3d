// A program's own mappings: parts that are unmapped, mappings over others, moves, growth,
// reservations that become usable, files, and the break. None of them is in the heap's figures.
//
// WHOLE peak=0/0 leaked=0/0 total=0/0
// MAP function=holed    line=@holed    kind=anonymous peak=0/0       leaked=0/0       total=40960/1
// MAP function=under    line=@under    kind=anonymous peak=24576/1   leaked=24576/1   total=40960/1
// MAP function=over     line=@over     kind=anonymous peak=16384/1   leaked=16384/1   total=16384/1
// MAP function=small    line=@small    kind=anonymous peak=0/0       leaked=0/0       total=8192/1
// MAP function=enlarge  line=@enlarge  kind=anonymous peak=1048576/1 leaked=4096/1    total=1048576/1
// MAP function=reserve  line=@reserve  kind=anonymous reserved=yes peak=1040384/1 leaked=1040384/1 total=1048576/1
// MAP function=reserve  line=@reserve  kind=anonymous reserved=no  peak=8192/1    leaked=8192/1    total=8192/1
// MAP function=lazy     line=@lazy     kind=anonymous reserved=yes peak=65536/1   leaked=65536/1   total=65536/1
// MAP function=shared   line=@shared   kind=shared    peak=4096/1    leaked=4096/1    total=4096/1
// MAP function=of_file  line=@file     kind=file file=mapped.data peak=8192/1 leaked=8192/1 total=8192/1
// MAP function=grow_break line=@break  kind=break     peak=10000/1   leaked=4000/1    total=10000/1
// MAPPED peak=1120016/7 leaked=69536/7 total=1185552/9
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096 };

static char* holed(void) {
  return mmap(NULL, 10 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // @holed
}
static char* under(void) {
  return mmap(NULL, 10 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // @under
}
static char* over(char* at) {
  return mmap(at, 4 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);  // @over
}
static char* small(void) {
  return mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // @small
}
static char* enlarge(char* at) {
  return mremap(at, 2 * kPage, 256 * kPage, MREMAP_MAYMOVE);  // @enlarge
}
static char* reserve(void) {
  return mmap(NULL, 256 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);  // @reserve
}
static char* lazy(void) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  return mmap(NULL, 16 * kPage, PROT_READ | PROT_WRITE, flags, -1, 0);  // @lazy
}
static char* shared(void) {
  return mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);  // @shared
}
static char* of_file(int fd) {
  return mmap(NULL, 2 * kPage, PROT_READ, MAP_PRIVATE, fd, 0);  // @file
}
static char* grow_break(void) {
  return sbrk(10000);  // @break
}

int main(void) {
  char* p = holed();
  munmap(p + 3 * kPage, 2 * kPage);
  munmap(p + 3 * kPage, 2 * kPage);  // nothing is there
  munmap(p, 10 * kPage);

  p = under();
  over(p + 2 * kPage);

  char* r = reserve();
  if (mprotect(r + 8 * kPage, 2 * kPage, PROT_READ | PROT_WRITE) != 0) return 1;
  memset(r + 8 * kPage, 1, 2 * kPage);
  lazy();
  *shared() = 1;

  int fd = open("mapped.data", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate(fd, 2 * kPage) != 0) return 1;
  if (of_file(fd) == MAP_FAILED) return 1;
  close(fd);

  if (grow_break() == (void*)-1) return 1;

  char* grown = enlarge(small());
  if (grown == MAP_FAILED) return 1;
  // Here is the peak.
  munmap(grown + kPage, 255 * kPage);
  if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) return 1;
  sbrk(-6000);
  brk(NULL);  // doesn't move it
  return 0;
}
