// A new-handler's allocations are the program's, like all others. The operator new that then fails
// is no allocation. Debian's mimalloc is built as C and ends the program instead.
//
// The std::bad_alloc at the end is an allocation too: 8 bytes after a header of 128.
//
// CASE with=glibc,jemalloc,tcmalloc
// SITE function=Reserve  line=@malloc    peak=1000/1 leaked=1000/1 total=1000/1
// SITE function=Reserve  line=@new       peak=2000/1 leaked=2000/1 total=2000/1
// SITE function=Reserve  line=@passing   peak=0/0    leaked=0/0    total=70/1
// SITE function=Throw    line=@throws    peak=300/3  leaked=300/3  total=300/3
// SITE function=Nest     line=@nest      peak=40/1   leaked=40/1   total=40/1
// SITE function=Inner    line=@inner     peak=50/1   leaked=50/1   total=50/1
// SITE function=Leave    line=@leave     peak=60/1   leaked=60/1   total=60/1
// SITE function=main     line=@left      peak=65/1   leaked=65/1   total=65/1
// SITE function=main     line=@after     peak=700/1  leaked=700/1  total=700/1
// SITE function=main     line=@last      peak=9000/1 leaked=0/0    total=9000/1
// The std::bad_alloc at the end is an allocation too: 8 bytes behind a header of 128.
// WITHIN function=main   line=@reserves  peak=3000/2 leaked=3000/2 total=3206/4
// TRACKER dropped_events=0 unknown_frees=0
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {
volatile size_t impossible = static_cast<size_t>(PTRDIFF_MAX) - 4096;
void* volatile kept[16];
int calls = 0;

void Keep(void* p) {
  static int next = 0;
  kept[next++] = p;
}

void Reserve() {
  ++calls;
  if (std::get_new_handler() != Reserve) std::abort();
  Keep(malloc(1000));          // @malloc
  Keep(::operator new(2000));  // @new
  free(malloc(70));            // @passing
  std::set_new_handler(nullptr);
}

void Throw() {
  ++calls;
  Keep(malloc(100));  // @throws
  throw std::bad_alloc();
}

void Inner() {
  ++calls;
  Keep(malloc(50));  // @inner
  std::set_new_handler(nullptr);
}

// A handler whose own operator new fails, and calls the next handler.
void Nest() {
  ++calls;
  std::set_new_handler(Inner);
  if (::operator new(impossible, std::nothrow) != nullptr) std::abort();
  Keep(::operator new(40));  // @nest
}

jmp_buf way_out;
void Leave() {
  ++calls;
  Keep(malloc(60));  // @leave
  longjmp(way_out, 1);
}

template <typename Allocation>
bool Fails(Allocation allocation) {
  try {
    return allocation() == nullptr;
  } catch (const std::bad_alloc&) {
    return true;
  }
}
}  // namespace

int main() {
  if (std::set_new_handler(Reserve) != nullptr) return 1;
  if (std::get_new_handler() != Reserve) return 2;
  if (!Fails([] { return ::operator new(impossible); })) return 3;  // @reserves
  if (std::get_new_handler() != nullptr) return 4;

  std::set_new_handler(Throw);
  if (!Fails([] { return ::operator new(impossible); })) return 5;
  if (!Fails([] { return ::operator new[](impossible, std::nothrow); })) return 6;
  if (!Fails([] { return ::operator new (impossible, std::align_val_t{64}); })) return 7;
  if (std::set_new_handler(Nest) != Throw) return 8;
  if (!Fails([] { return ::operator new(impossible); })) return 9;

  std::set_new_handler(Leave);
  if (setjmp(way_out) == 0) {
    kept[0] = ::operator new(impossible);
    return 10;
  }
  Keep(malloc(65));  // @left
  if (calls != 7) return 11;

  Keep(::operator new(700));                // @after
  ::operator delete(::operator new(9000));  // @last
  return 0;
}
