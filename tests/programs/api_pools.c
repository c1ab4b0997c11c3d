// A pool that hands out parts of arenas, and tells the tracker. What it hands out is counted by who
// asked for it, and the malloc'd arena not at all from then on; a static arena never was.
//
// 1,024 bytes of arena, then told: 0 bytes in a block that is freed at the end. 3 objects of 40 bytes
// at once at most, 2 left; and one of 24 bytes in the static arena, given out twice at one address
// without a word between: the first is gone then.
//
// SITE function=GetArena line=@ARENA kind=malloc peak=1024/1 leaked=0/0 total=1024/2
// SITE function=MakeObject line=@OBJECT kind=pool peak=0/0 leaked=80/2 total=160/4
// SITE function=InStatic line=@STATIC kind=pool peak=0/0 leaked=24/1 total=48/2
// WHOLE peak=1024/1 leaked=104/3 total=1232/8
#include <memprof/memprof.h>

#include <stdlib.h>

static char* arena;
static _Alignas(8) char static_arena[64];

static void GetArena(void) {
  arena = malloc(1024);  // @ARENA
  memprof_pool_arena(arena);
}
static char* MakeObject(int number) {
  char* object = arena + 40 * number;
  memprof_pool_alloc(object, 40);  // @OBJECT
  return object;
}
static void InStatic(void) {
  memprof_pool_alloc(static_arena, 24);  // @STATIC
}

int main(void) {
  GetArena();
  char* first = MakeObject(0);  // at the arena's own address
  MakeObject(1);
  MakeObject(2);
  memprof_pool_free(first);
  InStatic();
  InStatic();
  MakeObject(0);
  memprof_pool_free(first);
  free(arena);
  return 0;
}
