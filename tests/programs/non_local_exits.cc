// Exceptions and longjmp remove frames that the tracker has seen; the next allocation has the
// current stack. 2,000 turns of each, from several depths.
//
// SITE function=Thrower line=@thrower peak=? leaked=0/0      total=20000/2000
// SITE function=Jumper  line=@jumper  peak=? leaked=0/0      total=40000/2000
// SITE function=main    line=@after   peak=? leaked=60000/2000 total=60000/2000
// SITE function=main    line=@last    peak=500000/1 leaked=500000/1 total=500000/1
// WITHIN function=Catches line=@catches peak=? leaked=0/0 total=?
// WITHIN function=Returns line=@returns peak=? leaked=0/0 total=40000/2000
#include <csetjmp>
#include <cstdlib>
#include <stdexcept>

namespace {

jmp_buf back;
void* volatile in_flight;

__attribute__((noinline)) void Thrower(int depth) {
  if (depth > 0) {
    Thrower(depth - 1);
    return;
  }
  in_flight = malloc(10);  // @thrower
  throw 42;
}

__attribute__((noinline)) void Jumper(int depth) {
  if (depth > 0) {
    Jumper(depth - 1);
    return;
  }
  in_flight = malloc(20);  // @jumper
  longjmp(back, 1);
}

__attribute__((noinline)) int Catches(int depth) {
  try {
    Thrower(depth);  // @catches
  } catch (int value) {
    free(in_flight);
    return value;
  }
  return 0;
}

__attribute__((noinline)) int Returns(int depth) {
  if (setjmp(back) == 0) {
    Jumper(depth);  // @returns
  }
  free(in_flight);
  return 42;
}

}  // namespace

int main() {
  static void* volatile kept;
  for (int i = 0; i < 2000; ++i) {
    if (Catches(i % 13) != 42) return 1;
    if (Returns(i % 7) != 42) return 2;
    kept = malloc(30);  // @after
  }
  kept = malloc(500000);  // @last
  return 0;
}
