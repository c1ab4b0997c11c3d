#include <stddef.h>

void* _Znwm(size_t size);
void _ZdlPv(void* address);
void late_helper_frees(void* address);

void* late_one_gives(size_t size) {
  late_helper_frees(_Znwm(size));  // @one_passes
  return _Znwm(size);              // @one
}

void late_one_takes(void* address) { _ZdlPv(address); }
