// Plain new and delete of the program's own, with a header before each block. new[] and the sized
// delete are libstdc++'s, and call these. A block of the program's own new is seen as its malloc,
// and freed as such, also if the sized delete is called with the address after the header, which
// was never allocated. A block of new[] belongs to new[].
//
// With other allocators the sized delete is theirs, and the program is wrong.
//
// CASE with=glibc
// CASE name=sampled flags=--sample,1 with=glibc
// SITE function=Take line=@take peak=11600/100 leaked=348/3 total=11600/100
// SITE function=main line=@array peak=0/0 leaked=0/0 total=1000/1
// TRACKER unknown_frees=0
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kHeader = 16;

[[gnu::noinline]] void* Take(size_t size) {
  char* volatile block = static_cast<char*>(malloc(size + kHeader));  // @take
  return block + kHeader;
}
[[gnu::noinline]] void Give(void* address) {
  if (address != nullptr) free(static_cast<char*>(address) - kHeader);
}

struct Thing {
  char bytes[100];
};
Thing* volatile things[100];

}  // namespace

void* operator new(size_t size) { return Take(size); }
void operator delete(void* address) noexcept { Give(address); }

int main() {
  for (auto& thing : things) thing = new Thing;
  for (size_t i = 3; i < 100; ++i) i % 2 != 0 ? delete things[i] : ::operator delete(things[i]);
  char* volatile array = new char[1000];  // @array
  delete[] array;
  return 0;
}
