// Failing operator new: bad_alloc, the new-handler, nothrow's null. None is an allocation, but the
// exceptions are, and are freed. Debian's mimalloc is built as C and ends the program instead.
//
// TRACKER unknown_frees=0
// TRACKER dropped_events=0
// CASE with=glibc,jemalloc,tcmalloc
// SITE function=main line=@ballast peak=0/0 leaked=0/0 total=600/1
// SITE function=main line=@kept    peak=700/1 leaked=700/1 total=700/1
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace {
int handler_calls = 0;
void* ballast = nullptr;
void Handler() {
  ++handler_calls;
  ::operator delete(ballast);
  ballast = nullptr;
  std::set_new_handler(nullptr);
}
}  // namespace

int main() {
  volatile size_t impossible = static_cast<size_t>(PTRDIFF_MAX) - 4096;
  int caught = 0;
  ballast = ::operator new(600);  // @ballast
  std::set_new_handler(Handler);
  try {
    ::operator delete(::operator new(impossible));
  } catch (const std::bad_alloc&) {
    ++caught;
  }
  try {
    ::operator delete[](::operator new[](impossible, std::align_val_t{64}));
  } catch (const std::bad_alloc&) {
    ++caught;
  }
  if (::operator new(impossible, std::nothrow) != nullptr) return 1;
  if (::operator new[](impossible, std::align_val_t{64}, std::nothrow) != nullptr) return 2;
  static void* volatile kept = ::operator new(700);  // @kept
  (void)kept;
  return handler_calls == 1 && caught == 2 && ballast == nullptr ? 0 : 3;
}
