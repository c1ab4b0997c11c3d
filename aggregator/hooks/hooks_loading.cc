// dlopen and dlmopen: the modules that they bring may bypass the hooks.

#include <dlfcn.h>

#include "aggregator/hooks/bypasses.h"
#include "aggregator/hooks/hook.h"
#include "aggregator/hooks/jump_hook.h"

using namespace memprof;

namespace {

// Stands in for a function that nobody has.
void* OpensNothing() { return nullptr; }

void* RealOr(NextFunction which) {
  auto* next = NextFromStart<void*()>(which);
  return reinterpret_cast<void*>(next != nullptr ? next : OpensNothing);
}

}  // namespace

extern "C" {

MEMPROF_BEFORE_JUMP memprof_before_dlopen(const char*, int mode) {
  void* const real_dlopen = RealOr(NextFunction::dlopen);
  (mode & RTLD_DEEPBIND) != 0 ? BeforeDeepBind() : LookForBypasses();
  return real_dlopen;
}

MEMPROF_BEFORE_JUMP memprof_before_dlmopen(Lmid_t space, const char*, int mode) {
  void* const real_dlmopen = RealOr(NextFunction::dlmopen);
  if (space != LM_ID_BASE) {
    BeforeNamespace();
  } else if ((mode & RTLD_DEEPBIND) != 0) {
    BeforeDeepBind();
  }
  return real_dlmopen;
}

}  // extern "C"

MEMPROF_JUMP_HOOK(dlopen, ".globl", memprof_before_dlopen);
MEMPROF_JUMP_HOOK(dlmopen, ".globl", memprof_before_dlmopen);
