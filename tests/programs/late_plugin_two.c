#include <stddef.h>

void* _Znwm(size_t size);
void _ZdlPv(void* address);

void* late_two_gives(size_t size) {
  void* passing = _Znwm(size);  // @two_passes
  _ZdlPv(passing);
  return _Znwm(size);  // @two
}

void late_two_takes(void* address) { _ZdlPv(address); }
