// All 8 operators new and all 12 operators delete. Each new's first block leaks; its others are
// freed, one by each delete that fits.
//
// SITE function=main line=@plain      peak=10/1 leaked=10/1 total=40/4
// SITE function=main line=@array      peak=20/1 leaked=20/1 total=80/4
// SITE function=main line=@plain_nt   peak=30/1 leaked=30/1 total=60/2
// SITE function=main line=@array_nt   peak=40/1 leaked=40/1 total=80/2
// SITE function=main line=@aligned    peak=50/1 leaked=50/1 total=200/4
// SITE function=main line=@aligned_a  peak=60/1 leaked=60/1 total=240/4
// SITE function=main line=@aligned_n  peak=70/1 leaked=70/1 total=140/2
// SITE function=main line=@aligned_an peak=80/1 leaked=80/1 total=160/2
// SITE function=main line=@top        peak=9000/1 leaked=0/0 total=9000/1
#include <cstdlib>
#include <new>

namespace {
using std::align_val_t;
using std::nothrow;
constexpr align_val_t k128{128};
bool misaligned = false;
void Check(void* p) { misaligned |= reinterpret_cast<unsigned long>(p) % 128 != 0; }
}  // namespace

int main() {
  void* p[32];
  for (int i = 0; i < 4; ++i) p[i] = ::operator new(10);  // @plain
  ::operator delete(p[1]);
  ::operator delete(p[2], 10ul);
  ::operator delete(p[3], nothrow);
  for (int i = 0; i < 4; ++i) p[i] = ::operator new[](20);  // @array
  ::operator delete[](p[1]);
  ::operator delete[](p[2], 20ul);
  ::operator delete[](p[3], nothrow);
  for (int i = 0; i < 2; ++i) p[i] = ::operator new(30, nothrow);  // @plain_nt
  ::operator delete(p[1], nothrow);
  for (int i = 0; i < 2; ++i) p[i] = ::operator new[](40, nothrow);  // @array_nt
  ::operator delete[](p[1], nothrow);
  for (int i = 0; i < 4; ++i) Check(p[i] = ::operator new(50, k128));  // @aligned
  ::operator delete(p[1], k128);
  ::operator delete(p[2], 50ul, k128);
  ::operator delete(p[3], k128, nothrow);
  for (int i = 0; i < 4; ++i) Check(p[i] = ::operator new[](60, k128));  // @aligned_a
  ::operator delete[](p[1], k128);
  ::operator delete[](p[2], 60ul, k128);
  ::operator delete[](p[3], k128, nothrow);
  for (int i = 0; i < 2; ++i) Check(p[i] = ::operator new(70, k128, nothrow));  // @aligned_n
  ::operator delete(p[1], k128, nothrow);
  for (int i = 0; i < 2; ++i) Check(p[i] = ::operator new[](80, k128, nothrow));  // @aligned_an
  ::operator delete[](p[1], k128, nothrow);
  ::operator delete(nullptr);
  ::operator delete[](nullptr, k128);
  ::operator delete(::operator new(9000));  // @top
  return misaligned ? 1 : 0;
}
