// Each function of the allocator from a place of its own, 10 times 24 bytes, none freed.
//
// SITE function=of_new           line=@new           kind=new     total=240/10 sizes=16-31:10
// SITE function=of_new_array     line=@new_array     kind=new[]   total=240/10
// SITE function=of_nothrow       line=@nothrow       kind=new     total=240/10
// SITE function=of_nothrow       line=@nothrow_array kind=new[]   total=240/10
// SITE function=of_aligned_new   line=@aligned_new   kind=new     total=240/10
// SITE function=of_aligned_new   line=@aligned_array kind=new[]   total=240/10
// SITE function=of_malloc        line=@malloc        kind=malloc  total=240/10
// SITE function=of_calloc        line=@calloc        kind=calloc  total=240/10
// SITE function=of_realloc       line=@realloc       kind=realloc total=240/10
// SITE function=of_aligned       line=@memalign      kind=aligned total=240/10
// SITE function=of_aligned       line=@posix         kind=aligned total=240/10
// SITE function=of_aligned       line=@aligned_alloc kind=aligned total=240/10
#include <malloc.h>
#include <stdlib.h>

#include <new>

static void* volatile keep;

static void of_new() {
  keep = ::operator new(24);  // @new
}
static void of_new_array() {
  keep = ::operator new[](24);  // @new_array
}
static void of_nothrow() {
  keep = ::operator new(24, std::nothrow);  // @nothrow
  keep = ::operator new[](24, std::nothrow);  // @nothrow_array
}
static void of_aligned_new() {
  keep = ::operator new(24, std::align_val_t(64));  // @aligned_new
  keep = ::operator new[](24, std::align_val_t(64));  // @aligned_array
}
static void of_malloc() {
  keep = malloc(24);  // @malloc
}
static void of_calloc() {
  keep = calloc(2, 12);  // @calloc
}
static void of_realloc() {
  keep = realloc(nullptr, 24);  // @realloc
}
static void of_aligned() {
  keep = memalign(64, 24);  // @memalign
  void* block;
  if (posix_memalign(&block, 64, 24) != 0) abort();  // @posix
  keep = block;
  keep = aligned_alloc(8, 24);  // @aligned_alloc
}

int main() {
  for (int i = 0; i < 10; ++i) {
    of_new();
    of_new_array();
    of_nothrow();
    of_aligned_new();
    of_malloc();
    of_calloc();
    of_realloc();
    of_aligned();
  }
  return 0;
}
