// Not a known answer of its own: takes a step for each byte that it reads, and answers each with
// one, so that a test knows when it is idle (history_test).
//
// step 1: first_step has 10,000 bytes in 10 blocks   step 2: second_step 15,000 in 5
// step 3: first_step's are freed                     step 4: third_step 100,000 in 1
#include <stdlib.h>
#include <unistd.h>

static void* blocks[10];
static void* volatile kept[6];

static void first_step(void) {
  for (int i = 0; i < 10; ++i) blocks[i] = malloc(1000);
}

static void second_step(void) {
  for (int i = 0; i < 5; ++i) kept[i] = malloc(3000);
}

static void free_first(void) {
  for (int i = 0; i < 10; ++i) free(blocks[i]);
}

static void third_step(void) {
  kept[5] = malloc(100000);
}

int main(void) {
  void (*steps[])(void) = {first_step, second_step, free_first, third_step};
  char byte;
  for (int i = 0; read(0, &byte, 1) == 1; ++i) {
    if (i < 4) steps[i]();
    if (write(1, &byte, 1) != 1) return 1;
  }
  return 0;
}
