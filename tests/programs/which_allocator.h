// Tells which allocator serves this program: each exports a function that the others don't have.
#ifndef WHICH_ALLOCATOR_H_
#define WHICH_ALLOCATOR_H_
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void jemallocs_own(void) __asm__("mallctl") __attribute__((weak));
void tcmallocs_own(void) __asm__("tc_version") __attribute__((weak));
void mimallocs_own(void) __asm__("mi_version") __attribute__((weak));
#ifdef __cplusplus
}
#endif

enum allocator { kGlibc, kJemalloc, kTcmalloc, kMimalloc };

static inline enum allocator which_allocator(void) {
  if (jemallocs_own != NULL) return kJemalloc;
  if (tcmallocs_own != NULL) return kTcmalloc;
  if (mimallocs_own != NULL) return kMimalloc;
  return kGlibc;
}

#endif  // WHICH_ALLOCATOR_H_
