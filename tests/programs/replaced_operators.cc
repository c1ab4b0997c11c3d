// A program that replaces one new and one delete. libstdc++'s other operators call these two; the
// program counts the calls and exits with 1 if one was missed. A preloaded allocator has all
// operators itself. Then the program counts its own two news and one delete, the two news of
// tcmalloc's constructor, and the delete that mimalloc's sized one calls.
//
// SITE function=main line=@plain    peak=10/1 leaked=0/0 total=10/1
// SITE function=main line=@array    peak=20/1 leaked=0/0 total=20/1
// SITE function=main line=@plain_nt peak=30/1 leaked=0/0 total=30/1
// SITE function=main line=@array_nt peak=40/1 leaked=0/0 total=40/1
// SITE function=main line=@sized    peak=50/1 leaked=0/0 total=50/1
// SITE function=main line=@sized_a  peak=60/1 leaked=0/0 total=60/1
// SITE function=main line=@kept     peak=70/1 leaked=70/1 total=70/1
#include <cstdlib>
#include <new>

#include "which_allocator.h"

namespace {
int news = 0;
int deletes = 0;
}  // namespace

void* operator new(size_t size) {
  ++news;
  return malloc(size);
}
void operator delete(void* address) noexcept {
  ++deletes;
  free(address);
}

int main() {
  using std::nothrow;
  void* plain = ::operator new(10);                 // @plain
  void* array = ::operator new[](20);               // @array
  void* plain_nt = ::operator new(30, nothrow);     // @plain_nt
  void* array_nt = ::operator new[](40, nothrow);   // @array_nt
  void* sized = ::operator new(50);                 // @sized
  void* sized_array = ::operator new[](60);         // @sized_a
  void* kept = ::operator new[](70);                // @kept
  *static_cast<char*>(kept) = 1;
  ::operator delete(plain);
  ::operator delete[](array);
  ::operator delete(plain_nt, nothrow);
  ::operator delete[](array_nt, nothrow);
  ::operator delete(sized, 50ul);
  ::operator delete[](sized_array, 60ul);
  const int expected[][2] = {{7, 6}, {2, 1}, {2 + 2, 1}, {2, 1 + 1}};  // by which_allocator()
  return news == expected[which_allocator()][0] && deletes == expected[which_allocator()][1] ? 0 : 1;
}
