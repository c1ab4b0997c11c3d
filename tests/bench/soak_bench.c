// soak_bench ALLOCATIONS: a steady program with 4,096 live blocks. Each step frees one of them and
// allocates another, of 16 to 1,039 bytes, from one of 64 stacks. Nothing grows.
#include <stdint.h>
#include <stdlib.h>

enum { kLive = 4096 };
static void* live[kLive];
static uint64_t state = 88172645463325252u;

static uint64_t next_random(void) {  // xorshift
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// Six levels with two ways each are 64 stacks.
__attribute__((noinline)) static void step(unsigned way, int level, uint64_t random) {
  if (level == 6) {
    void** slot = &live[random % kLive];
    free(*slot);
    *slot = malloc(16 + (random >> 20) % 1024);
  } else if ((way >> level) & 1) {
    step(way, level + 1, random);
    __asm__ volatile("" ::: "memory");
  } else {
    step(way, level + 1, random);
    __asm__ volatile("nop" ::: "memory");
  }
}

int main(int argc, char** argv) {
  const uint64_t allocations = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  for (uint64_t i = 0; i < allocations; ++i) {
    const uint64_t random = next_random();
    step((unsigned)(random >> 50) & 63, 0, random);
  }
  return 0;
}
