// Not a known answer: a program that writes to blocks that it has freed, and still ends well, since
// nothing that it does later uses them. Code that walks glibc's lists of free blocks aborts it.
//
//   fastbin   a free block's link is text
//   bin       so are the links and the size of one among ten
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* volatile kept;

// Each depth is a new stack; the block is from the thread's own cache.
static void fresh_stack(int depth) {
  if (depth > 0) {
    fresh_stack(depth - 1);
  } else {
    kept = malloc(24);
    free(kept);
  }
  __asm__ volatile("");
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  char* small[20];
  for (int i = 0; i < 20; ++i) small[i] = malloc(24);
  char* large[10];
  for (int i = 0; i < 10; ++i) {
    large[i] = malloc(5000);
    kept = malloc(40);  // they are not merged
  }
  for (int i = 0; i < 10; ++i) free(large[i]);
  for (int i = 0; i < 20; ++i) free(small[i]);
  if (strcmp(arguments[1], "bin") == 0) {
    memset(large[3], 0x41, 64);
  } else {
    memcpy(small[15], "name=value", 11);
  }
  for (int i = 0; i < 100; ++i) {
    fresh_stack(i);
    usleep(2000);
  }
  return write(1, "done\n", 5) == 5 ? 0 : 1;
}
