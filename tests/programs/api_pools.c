// A pool that hands out parts of arenas, and reports them. Its blocks are counted by the stack that
// asked for them, and the malloc'd arena is not counted from then on; a static arena never was.
//
// The arena has 1,024 bytes. Once it is reported, it is a block of 0 bytes, freed at the end. At
// most 3 objects of 40 bytes exist at once; 2 are left. A block of 24 bytes in the static arena is
// given out twice at one address without a report between: the first one then counts as gone.
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
