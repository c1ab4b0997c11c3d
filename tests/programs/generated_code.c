// Code without unwind data: a function written to memory calls back into the program. The place
// that allocated is known, although the outer frames aren't.
//
// SITE function=callback line=@callback peak=500/5 leaked=500/5 total=500/5
// WHOLE peak=500/5 leaked=500/5 total=500/5
// TRACKER dropped_events=0
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void* volatile kept;

static void callback(void) {
  kept = malloc(100);  // @callback
}

int main(void) {
  // rbp is nonsense while the callback runs: no chain of frame pointers leads out.
  static const unsigned char code[] = {
      0x55,                                      // push rbp
      0x48, 0xc7, 0xc5, 0x01, 0x00, 0x00, 0x00,  // mov rbp,1
      0xff, 0xd7,                                // call rdi
      0x5d,                                      // pop rbp
      0xc3,                                      // ret
  };
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  memcpy(page, code, sizeof code);
  for (int i = 0; i < 5; ++i) ((void (*)(void (*)(void)))page)(callback);
  return 0;
}
